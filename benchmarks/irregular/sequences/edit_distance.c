#include <stdint.h>

enum { LONGEST = 32 };

static inline int min(int a, int b) { return a < b ? a : b; }

void edit_distance(const uint8_t *restrict first, int first_rows, int first_columns,
                   const int *restrict first_lengths, int first_lengths_len,
                   const uint8_t *restrict second, int second_rows, int second_columns,
                   const int *restrict second_lengths, int second_lengths_len,
                   int *restrict out, int pairs)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int pair = 0; pair < pairs; pair++) {
        const uint8_t *a = first + (int64_t)pair * first_columns;
        const uint8_t *b = second + (int64_t)pair * second_columns;
        int rows = first_lengths[pair], columns = second_lengths[pair];
        int row[LONGEST + 1];
        for (int j = 0; j <= columns; j++)
            row[j] = j;
        for (int i = 0; i < rows; i++) {
            int diagonal = row[0];
            int left = row[0] = i + 1;
            for (int j = 0; j < columns; j++) {
                int replaced = diagonal + (a[i] != b[j]);
                diagonal = row[j + 1];
                left = row[j + 1] = min(min(replaced, diagonal + 1), left + 1);
            }
        }
        out[pair] = row[columns];
    }
}
