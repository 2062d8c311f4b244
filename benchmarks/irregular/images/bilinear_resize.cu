extern "C" __global__ void bilinear_resize(const float *__restrict__ image, int rows, int columns,
                                           float *__restrict__ out, int height, int width,
                                           float y_ratio, float x_ratio)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width)
        return;
    float y = i * y_ratio, x = j * x_ratio;
    int top = y, left = x;
    int bottom = min(top + 1, rows - 1), right = min(left + 1, columns - 1);
    float dy = y - top, dx = x - left;
    const float *upper_row = image + top * columns, *lower_row = image + bottom * columns;
    float upper = upper_row[left] * (1.0f - dx) + upper_row[right] * dx;
    float lower = lower_row[left] * (1.0f - dx) + lower_row[right] * dx;
    out[i * width + j] = upper * (1.0f - dy) + lower * dy;
}
