#include <stddef.h>
#include <stdint.h>

static const int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const float WEIGHTS[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

static inline int wrapped(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

void lattice_boltzmann(const float *restrict f, int directions, int f_rows, int f_columns,
                       const uint8_t *restrict solid, int ny, int nx, float *restrict out,
                       int out_directions, int out_rows, int out_columns, float omega)
{
    const size_t cells = (size_t)ny * nx;
#pragma omp parallel for
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            const size_t cell = (size_t)y * nx + x;
            float streamed[9], density = 0.0f, ux = 0.0f, uy = 0.0f;
            for (int q = 0; q < 9; q++) {
                int row = wrapped(y - CY[q], ny), column = wrapped(x - CX[q], nx);
                float value = streamed[q] = f[q * cells + (size_t)row * nx + column];
                density += value;
                ux += CX[q] * value;
                uy += CY[q] * value;
            }
            if (solid[cell]) {
                for (int q = 0; q < 9; q++)
                    out[q * cells + cell] = streamed[OPPOSITE[q]];
                continue;
            }
            ux /= density;
            uy /= density;
            float square = 1.5f * (ux * ux + uy * uy);
            for (int q = 0; q < 9; q++) {
                float along = 3.0f * (CX[q] * ux + CY[q] * uy);
                float equilibrium =
                    WEIGHTS[q] * density * (1.0f + along + 0.5f * along * along - square);
                out[q * cells + cell] = streamed[q] + omega * (equilibrium - streamed[q]);
            }
        }
}
