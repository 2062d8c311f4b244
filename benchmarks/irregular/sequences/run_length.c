#include <stdint.h>

void run_length(const uint8_t *restrict values, int n, int *restrict lengths, int lengths_len)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int length = 0;
        if (i == 0 || values[i] != values[i - 1]) {
            int end = i + 1;
            while (end < n && values[end] == values[i])
                end++;
            length = end - i;
        }
        lengths[i] = length;
    }
}
