extern "C" __global__ void mandelbrot(int *out, int out_shape0, int out_shape1, float left,
                                      float top, float step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_shape1 || y >= out_shape0) return;
    float cr = left + step * x;
    float ci = top + step * y;
    float zr = 0.0f;
    float zi = 0.0f;
    int count = 0;
    while (count < 40 && zr * zr + zi * zi < 4.0f) {
        float following = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = following;
        count += 1;
    }
    out[y * out_shape1 + x] = count;
}
