#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct nbody_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape0;
    float *p2_data0;
    int64_t p2_shape1;
};

// The lesser, as Python chooses: the first where neither is.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void nbody(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct nbody_args *const args = arguments;
    const float *position = args->p0_data0;
    int64_t position_shape1 = args->p0_shape1;
    const float *mass = args->p1_data0;
    int64_t mass_len = args->p1_shape0;
    float *acceleration = args->p2_data0;
    int64_t acceleration_shape1 = args->p2_shape1;
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
        float tile[32][4];
        float ax[32];
        float ay[32];
        float az[32];
        float px[32];
        float py[32];
        float pz[32];
        int64_t n = mass_len;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t mine = min_i64(i, n - 1);
                    px[thread] = position[mine * position_shape1];
                    py[thread] = position[mine * position_shape1 + 1];
                    pz[thread] = position[mine * position_shape1 + 2];
                    ax[thread] = 0.0f;
                    ay[thread] = 0.0f;
                    az[thread] = 0.0f;
                }
            }
        }
        for (int64_t start = 0; start < n; start += 32) {
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        int64_t tid = threadIdx.x;
                        int64_t other = min_i64(start + tid, n - 1);
                        for (int64_t axis = 0; axis < 3; ++axis) {
                            tile[tid][axis] = position[other * position_shape1 + axis];
                        }
                        tile[tid][3] = start + tid < n ? mass[other] : 0.0f;
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        for (int64_t k = 0; k < 32; ++k) {
                            float dx = tile[k][0] - px[thread];
                            float dy = tile[k][1] - py[thread];
                            float dz = tile[k][2] - pz[thread];
                            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
                            float pull = tile[k][3] * inverse * inverse * inverse;
                            ax[thread] += pull * dx;
                            ay[thread] += pull * dy;
                            az[thread] += pull * dz;
                        }
                    }
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i < n) {
                        acceleration[i * acceleration_shape1] = ax[thread];
                        acceleration[i * acceleration_shape1 + 1] = ay[thread];
                        acceleration[i * acceleration_shape1 + 2] = az[thread];
                    }
                }
            }
        }
    }
}
