#include <stdint.h>
#include <string.h>

enum { SAMPLES = 32 };

void quantile(const float *restrict samples, int rows, int columns, int rank, float *restrict out,
              int out_len)
{
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        float values[SAMPLES];
        memcpy(values, samples + (int64_t)row * SAMPLES, sizeof values);
        int left = 0, right = SAMPLES - 1;
        while (left < right) {
            float pivot = values[rank];
            int i = left, j = right;
            while (i <= j) {
                while (values[i] < pivot)
                    i++;
                while (pivot < values[j])
                    j--;
                if (i <= j) {
                    float swapped = values[i];
                    values[i++] = values[j];
                    values[j--] = swapped;
                }
            }
            if (j < rank)
                left = i;
            if (rank < i)
                right = j;
        }
        out[row] = values[rank];
    }
}
