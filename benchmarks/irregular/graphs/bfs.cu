extern "C" __global__ void bfs(const int *__restrict__ starts, int starts_len,
                               const int *__restrict__ neighbors, int neighbors_len, int *levels,
                               int vertices, int *changed, int changed_len, int level)
{
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || levels[vertex] != level)
        return;
    int stop = starts[vertex + 1];
    for (int k = starts[vertex]; k < stop; k++) {
        int neighbor = neighbors[k];
        if (levels[neighbor] < 0) {
            levels[neighbor] = level + 1;
            *changed = 1;
        }
    }
}
