#include <stdint.h>

enum { MATCH = 3, MISMATCH = -2, GAP = 2 };

static inline int max(int a, int b) { return a > b ? a : b; }
static inline int min(int a, int b) { return a < b ? a : b; }

void smith_waterman(const uint8_t *restrict first, int rows, const uint8_t *restrict second,
                    int columns, const int *restrict before, int before_len,
                    const int *restrict last, int last_len, int *restrict scores, int scores_len,
                    int diagonal)
{
    int start = max(1, diagonal - columns), stop = min(rows, diagonal - 1);
#pragma omp parallel for simd
    for (int i = start; i <= stop; i++) {
        int same = first[i - 1] == second[diagonal - i - 1];
        int replaced = before[i - 1] + (same ? MATCH : MISMATCH);
        int gap = max(last[i - 1], last[i]) - GAP;
        scores[i] = max(0, max(replaced, gap));
    }
}
