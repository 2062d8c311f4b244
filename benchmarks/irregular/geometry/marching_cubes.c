#include <stddef.h>
#include <stdint.h>

void marching_cubes(const float *restrict volume, int volume_nz, int volume_ny, int volume_nx,
                    float level, const uint8_t *restrict table, int table_len,
                    uint8_t *restrict cases, int nz, int ny, int nx, uint8_t *restrict counts,
                    int counts_nz, int counts_ny, int counts_nx)
{
    const ptrdiff_t line = volume_nx, plane = volume_ny * line;
#pragma omp parallel for collapse(2)
    for (int i = 0; i < nz; i++)
        for (int j = 0; j < ny; j++) {
            const float *restrict corner = volume + i * plane + j * line;
            uint8_t *restrict row = cases + ((ptrdiff_t)i * ny + j) * nx;
            uint8_t *restrict count = counts + ((ptrdiff_t)i * ny + j) * nx;
#pragma omp simd
            for (int k = 0; k < nx; k++) {
                const float *restrict c = corner + k;
                int index = c[0] < level;
                index |= (c[1] < level) << 1;
                index |= (c[line + 1] < level) << 2;
                index |= (c[line] < level) << 3;
                index |= (c[plane] < level) << 4;
                index |= (c[plane + 1] < level) << 5;
                index |= (c[plane + line + 1] < level) << 6;
                index |= (c[plane + line] < level) << 7;
                row[k] = index;
            }
            for (int k = 0; k < nx; k++)
                count[k] = table[row[k]];
        }
}
