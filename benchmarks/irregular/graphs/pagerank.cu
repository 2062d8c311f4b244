extern "C" __global__ void pagerank(const int *__restrict__ starts, int starts_len,
                                    const int *__restrict__ sources, int sources_len,
                                    const int *__restrict__ degrees, int degrees_len,
                                    const float *__restrict__ ranks, int ranks_len,
                                    float *__restrict__ updated, int updated_len, float damping,
                                    int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    float total = 0.0f;
    int stop = starts[v + 1];
    for (int k = starts[v]; k < stop; k++) {
        int u = sources[k];
        total += ranks[u] / degrees[u];
    }
    updated[v] = (1.0f - damping) / n + damping * total;
}
