#include <stdint.h>

void string_search(const uint8_t *restrict text, int n, const uint8_t *restrict pattern,
                   int pattern_len, uint8_t *restrict found, int found_len)
{
#pragma omp parallel for
    for (int i = 0; i <= n - pattern_len; i++) {
        int k = 0;
        while (k < pattern_len && text[i + k] == pattern[k])
            k++;
        found[i] = k == pattern_len;
    }
}
