static void atomic_min(int *address, int value)
{
    int old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (value < old && !__atomic_compare_exchange_n(address, &old, value, 1, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

void connected_components(const int *restrict edges, int edges_len, int ends,
                          const int *restrict labels, int labels_len, int *restrict updated,
                          int updated_len)
{
#pragma omp parallel for
    for (int e = 0; e < edges_len; e++) {
        int u = edges[2 * e], v = edges[2 * e + 1];
        if (labels[u] < labels[v])
            atomic_min(updated + v, labels[u]);
        else if (labels[v] < labels[u])
            atomic_min(updated + u, labels[v]);
    }
}
