void pagerank(const int *restrict starts, int starts_len, const int *restrict sources,
              int sources_len, const int *restrict degrees, int degrees_len,
              const float *restrict ranks, int ranks_len, float *restrict updated, int updated_len,
              float damping, int n)
{
    const float base = (1.0f - damping) / n;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int v = 0; v < n; v++) {
        float total = 0.0f;
        for (int k = starts[v]; k < starts[v + 1]; k++)
            total += ranks[sources[k]] / degrees[sources[k]];
        updated[v] = base + damping * total;
    }
}
