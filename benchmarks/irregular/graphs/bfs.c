void bfs(const int *restrict starts, int starts_len, const int *restrict neighbors,
         int neighbors_len, int *restrict levels, int vertices, int *restrict changed,
         int changed_len, int level)
{
    int found = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(| : found)
    for (int vertex = 0; vertex < vertices; vertex++) {
        if (levels[vertex] != level)
            continue;
        for (int k = starts[vertex]; k < starts[vertex + 1]; k++) {
            int neighbor = neighbors[k];
            if (levels[neighbor] < 0) {
                levels[neighbor] = level + 1;
                found = 1;
            }
        }
    }
    if (found)
        *changed = 1;
}
