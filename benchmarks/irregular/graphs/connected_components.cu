extern "C" __global__ void connected_components(const int *__restrict__ edges, int edges_len,
                                                int ends, const int *__restrict__ labels,
                                                int labels_len, int *updated, int updated_len)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges_len)
        return;
    int u = edges[2 * e], v = edges[2 * e + 1];
    int label_u = labels[u], label_v = labels[v];
    if (label_u < label_v)
        atomicMin(updated + v, label_u);
    else if (label_v < label_u)
        atomicMin(updated + u, label_v);
}
