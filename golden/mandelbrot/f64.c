#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct mandelbrot_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    int32_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    double p1_value0;
    double p2_value0;
    double p3_value0;
};

void mandelbrot(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct mandelbrot_args *const args = arguments;
    int32_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    double left = args->p1_value0;
    double top = args->p2_value0;
    double step = args->p3_value0;
    struct dim3 gridDim;
    gridDim.x = args->gridDim[0];
    gridDim.y = args->gridDim[1];
    gridDim.z = args->gridDim[2];
    struct dim3 blockDim;
    blockDim.x = args->blockDim[0];
    blockDim.y = args->blockDim[1];
    blockDim.z = args->blockDim[2];
    for (int64_t block = first_block; block < last_block; ++block) {
        struct dim3 blockIdx;
        blockIdx.x = block % gridDim.x;
        blockIdx.y = (block / gridDim.x) % gridDim.y;
        blockIdx.z = (block / gridDim.x) / gridDim.y;
        struct dim3 threadIdx;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t x = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t y = blockIdx.y * blockDim.y + threadIdx.y;
                    if (x >= out_shape1 || y >= out_shape0) continue;
                    double cr = left + step * (double)x;
                    double ci = top + step * (double)y;
                    double zr = 0.0;
                    double zi = 0.0;
                    int64_t count = 0;
                    while (count < 40 && zr * zr + zi * zi < 4.0) {
                        double following = zr * zr - zi * zi + cr;
                        zi = 2.0 * zr * zi + ci;
                        zr = following;
                        count += 1;
                    }
                    out[y * out_shape1 + x] = count;
                }
            }
        }
    }
}
