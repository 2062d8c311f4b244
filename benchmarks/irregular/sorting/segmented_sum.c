#include <stdint.h>

void segmented_sum(const double *restrict values, int values_len, const int64_t *restrict offsets,
                   int offsets_len, double *restrict sums, int segments)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (int segment = 0; segment < segments; segment++) {
        double total = 0.0;
        for (int64_t k = offsets[segment]; k < offsets[segment + 1]; k++)
            total += values[k];
        sums[segment] = total;
    }
}
