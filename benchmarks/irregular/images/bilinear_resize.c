void bilinear_resize(const float *restrict image, int rows, int columns, float *restrict out,
                     int height, int width, float y_ratio, float x_ratio)
{
#pragma omp parallel for
    for (int i = 0; i < height; i++) {
        const float y = i * y_ratio;
        const int top = y, bottom = top + 1 < rows ? top + 1 : rows - 1;
        const float dy = y - top;
        const float *upper_row = image + top * columns, *lower_row = image + bottom * columns;
#pragma omp simd
        for (int j = 0; j < width; j++) {
            float x = j * x_ratio;
            int left = x, right = left + 1 < columns ? left + 1 : columns - 1;
            float dx = x - left;
            float upper = upper_row[left] * (1.0f - dx) + upper_row[right] * dx;
            float lower = lower_row[left] * (1.0f - dx) + lower_row[right] * dx;
            out[i * width + j] = upper * (1.0f - dy) + lower * dy;
        }
    }
}
