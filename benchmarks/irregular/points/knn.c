#include <math.h>

enum { K = 4 };

void knn(const float *restrict queries, int queries_len, int query_axes,
         const float *restrict points, int points_len, int point_axes, int *restrict nearest,
         int nearest_len, int nearest_k, float *restrict distances, int distances_len,
         int distances_k, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float best[K];
        int indices[K];
        for (int k = 0; k < K; k++) {
            best[k] = INFINITY;
            indices[k] = -1;
        }
        const float x = queries[2 * i], y = queries[2 * i + 1];
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
}
