#include <math.h>

enum { FEATURES = 8 };

void kmeans(const float *restrict points, int count, int features, const float *restrict centers,
            int clusters, int center_features, int *restrict labels, int labels_len)
{
#pragma omp parallel for
    for (int i = 0; i < count; i++) {
        const float *point = points + i * FEATURES;
        int label = 0;
        float least = INFINITY;
        for (int c = 0; c < clusters; c++) {
            const float *center = centers + c * FEATURES;
            float distance = 0.0f;
            for (int k = 0; k < FEATURES; k++) {
                float difference = point[k] - center[k];
                distance += difference * difference;
            }
            if (distance < least) {
                least = distance;
                label = c;
            }
        }
        labels[i] = label;
    }
}
