#define RADIUS 3
#define SIZE (2 * RADIUS + 1)

extern "C" __global__ void convolution_7(const float *__restrict__ image, int image_len,
                                         const float *__restrict__ weights, int weights_len,
                                         float *__restrict__ out, int out_len, int rows,
                                         int columns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < RADIUS || i >= rows - RADIUS || j < RADIUS || j >= columns - RADIUS)
        return;
    float total = 0.0f;
    for (int di = -RADIUS; di <= RADIUS; di++)
        for (int dj = -RADIUS; dj <= RADIUS; dj++)
            total += weights[(di + RADIUS) * SIZE + dj + RADIUS] *
                     image[(i + di) * columns + j + dj];
    out[i * columns + j] = total;
}
