void saxpy_strided(int n, float a, const float *restrict x, int x_len, float *restrict y, int y_len)
{
#pragma omp parallel for simd
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
