#include "7-point-stencil/cuda/kernel.cu"

extern "C" void laplacian_float32(float *f, float *u, int n, int threads, float h)
{
    laplacian(f, u, n, n, n, threads, 1, 1, h, h, h);
}

extern "C" void laplacian_float64(double *f, double *u, int n, int threads, double h)
{
    laplacian(f, u, n, n, n, threads, 1, 1, h, h, h);
}
