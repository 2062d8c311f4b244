// The kernels of benchmarks/kernels.py in OpenCL C. No restrict: the Python kernels have no such declaration either.
#define TILE 16
#define THREADS 256
#define BINS 256
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

kernel void saxpy(global float *out, global const float *x, global const float *y, float a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = a * x[i] + y[i];
}

kernel void stencil(global float *out, global const float *a, int rows, int columns)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
        global const float *here = a + i * columns + j;
        float around = here[-columns] + here[columns] + here[-1] + here[1];
        out[i * columns + j] = here[0] + 0.1f * (around - 4.0f * here[0]);
    }
}

kernel void mandelbrot(global int *out, float left, float top, float step, int limit, int rows,
                       int columns)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i >= rows || j >= columns)
        return;
    float cr = left + step * j, ci = top + step * i;
    float zr = 0.0f, zi = 0.0f;
    int count = 0;
    while (count < limit && zr * zr + zi * zi < 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        count++;
    }
    out[i * columns + j] = count;
}

kernel void nbody(global float *out, global const float *x, global const float *y,
                  global const float *z, global const float *mass, float softening, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float xi = x[i], yi = y[i], zi = z[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
        float inverse = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + softening);
        float pull = mass[j] * inverse * inverse * inverse;
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}

kernel void matmul(global float *c, global const float *a, global const float *b, int n)
{
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float total = 0.0f;
    for (int step = 0; step < n / TILE; step++) {
        tile_a[ty][tx] = a[row * n + step * TILE + tx];
        tile_b[ty][tx] = b[(step * TILE + ty) * n + column];
        BARRIER();
        for (int k = 0; k < TILE; k++)
            total += tile_a[ty][k] * tile_b[k][tx];
        BARRIER();
    }
    c[row * n + column] = total;
}

kernel void block_sum(global float *out, global const float *x, int n)
{
    local float part[THREADS];
    int t = get_local_id(0), i = get_global_id(0);
    part[t] = i < n ? x[i] : 0.0f;
    BARRIER();
    for (int half_size = THREADS / 2; half_size > 0; half_size /= 2) {
        if (t < half_size)
            part[t] += part[t + half_size];
        BARRIER();
    }
    if (t == 0)
        out[get_group_id(0)] = part[0];
}

kernel void block_scan(global float *out, global const float *x, int n)
{
    local float part[THREADS];
    int t = get_local_id(0), i = get_global_id(0);
    part[t] = i < n ? x[i] : 0.0f;
    BARRIER();
    for (int step = 1; step < THREADS; step *= 2) {
        float before = t >= step ? part[t - step] : 0.0f;
        BARRIER();
        part[t] += before;
        BARRIER();
    }
    if (i < n)
        out[i] = part[t];
}

kernel void histogram(global int *counts, global const uchar *x, int n)
{
    int i = get_global_id(0);
    if (i < n)
        atomic_inc(&counts[x[i]]);
}

kernel void shared_histogram(global int *counts, global const uchar *x, int n)
{
    local int mine[BINS];
    int t = get_local_id(0);
    mine[t] = 0;
    BARRIER();
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[x[i]]);
    BARRIER();
    atomic_add(&counts[t], mine[t]);
}

float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float tail = -0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f));
    tail = k * (0.31938153f + k * tail);
    tail *= 0.3989422804014327f * exp(-0.5f * d * d);
    return d > 0.0f ? 1.0f - tail : tail;
}

kernel void black_scholes(global float *call, global float *put, global const float *price,
                          global const float *strike, global const float *years, float rate,
                          float volatility, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float p = price[i], s = strike[i], t = years[i];
    float spread = volatility * sqrt(t);
    float d = (log(p / s) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float n1 = normal_cdf(d), n2 = normal_cdf(d - spread);
    float discounted = s * exp(-rate * t);
    call[i] = p * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - p * (1.0f - n1);
}

kernel void tiny(global float *out, global const float *x, float a)
{
    int i = get_global_id(0);
    out[i] = a * x[i];
}
