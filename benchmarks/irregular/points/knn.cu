#define K 4

extern "C" __global__ void knn(const float *__restrict__ queries, int queries_len, int query_axes,
                               const float *__restrict__ points, int points_len, int point_axes,
                               int *__restrict__ nearest, int nearest_len, int nearest_k,
                               float *__restrict__ distances, int distances_len, int distances_k,
                               int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best[K];
    int indices[K];
    for (int k = 0; k < K; k++) {
        best[k] = 3.402823466e38f;
        indices[k] = -1;
    }
    float x = queries[2 * i], y = queries[2 * i + 1];
    for (int j = 0; j < points_len; j++) {
        float dx = x - points[2 * j], dy = y - points[2 * j + 1];
        float distance = dx * dx + dy * dy;
        if (distance < best[K - 1]) {
            int k = K - 1;
            for (; k > 0 && best[k - 1] > distance; k--) {
                best[k] = best[k - 1];
                indices[k] = indices[k - 1];
            }
            best[k] = distance;
            indices[k] = j;
        }
    }
    for (int k = 0; k < K; k++) {
        nearest[i * K + k] = indices[k];
        distances[i * K + k] = best[k];
    }
}
