void gather(const float *restrict source, int source_len, const int *restrict indices,
            int indices_len, float *restrict out, int out_len, int n)
{
#pragma omp parallel for simd
    for (int i = 0; i < n; i++)
        out[i] = source[indices[i]];
}
