#include <stdint.h>

void bucket_scatter(const uint32_t *restrict keys, int n, const int *restrict values,
                    int values_len, int *restrict cursors, int buckets,
                    uint32_t *restrict out_keys, int out_keys_len, int *restrict out_values,
                    int out_values_len, unsigned shift)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        uint32_t key = keys[i];
        int at;
#pragma omp atomic capture
        at = cursors[key >> shift]++;
        out_keys[at] = key;
        out_values[at] = values[i];
    }
}
