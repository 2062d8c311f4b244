extern "C" __global__ void mandelbrot(int *out, int out_shape0, int out_shape1, double left,
                                      double top, double step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_shape1 || y >= out_shape0) return;
    double cr = left + step * x;
    double ci = top + step * y;
    double zr = 0.0;
    double zi = 0.0;
    int count = 0;
    while (count < 40 && zr * zr + zi * zi < 4.0) {
        double following = zr * zr - zi * zi + cr;
        zi = 2.0 * zr * zi + ci;
        zr = following;
        count += 1;
    }
    out[y * out_shape1 + x] = count;
}
