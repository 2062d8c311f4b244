#define FEATURES 8

extern "C" __global__ void kmeans(const float *__restrict__ points, int count, int features,
                                  const float *__restrict__ centers, int clusters,
                                  int center_features, int *__restrict__ labels, int labels_len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float *point = points + i * FEATURES;
    int label = 0;
    float least = 3.402823466e38f;
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
