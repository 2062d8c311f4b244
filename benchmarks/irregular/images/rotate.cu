extern "C" __global__ void rotate(const float *__restrict__ image, int rows, int columns,
                                  float *__restrict__ out, int out_rows, int out_columns,
                                  float cosine, float sine)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns)
        return;
    float dy = i - rows / 2, dx = j - columns / 2;
    float y = cosine * dy - sine * dx + rows / 2;
    float x = sine * dy + cosine * dx + columns / 2;
    int top = floorf(y), left = floorf(x);
    float value = 0.0f;
    if (top >= 0 && top < rows - 1 && left >= 0 && left < columns - 1) {
        const float *at = image + top * columns + left, *below = at + columns;
        float fy = y - top, fx = x - left;
        float upper = at[0] + (at[1] - at[0]) * fx;
        float lower = below[0] + (below[1] - below[0]) * fx;
        value = upper + (lower - upper) * fy;
    }
    out[i * columns + j] = value;
}
