/* Compute 100 time steps on the CPU. */
#include <stdio.h>

#include "heat.h"

enum { SIZE = 64 };

static float plates[2][SIZE * SIZE];

int main(void) {
    int64_t shape[] = {SIZE, SIZE};
    const DLTensor tensors[] = {
        {plates[0], {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0},
        {plates[1], {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0},
    };
    const pycu2c_dim3 grid = {SIZE / 32, SIZE / 8, 1}, block = {32, 8, 1};
    for (int x = 0; x < SIZE; x++) plates[0][x] = 100; /* the first row is hot */
    for (int step = 0; step < 100; step++) {
        const DLTensor *const from = &tensors[step % 2], *const to = &tensors[1 - step % 2];
        if (heat_diffuse_launch(from, to, 0.2, grid, block, 0, NULL) != PYCU2C_SUCCESS) {
            fprintf(stderr, "%s\n", heat_last_error());
            return 1;
        }
    }
    printf("%.6f\n", plates[0][5 * SIZE + SIZE / 2]);
    return 0;
}
