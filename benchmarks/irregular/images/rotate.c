#include <math.h>

void rotate(const float *restrict image, int rows, int columns, float *restrict out, int out_rows,
            int out_columns, float cosine, float sine)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < rows; i++) {
        const float dy = i - rows / 2;
#pragma omp simd
        for (int j = 0; j < columns; j++) {
            float dx = j - columns / 2;
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
    }
}
