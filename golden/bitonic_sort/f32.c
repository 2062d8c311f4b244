#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct bitonic_sort_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    float *p0_data0;
};

void bitonic_sort(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct bitonic_sort_args *const args = arguments;
    float *data = args->p0_data0;
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
        float mine[32];
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    mine[tid] = data[i];
                }
            }
        }
        int64_t size = 2;
        while (size <= 32) {
            int64_t stride = size / 2;
            while (stride > 0) {
                for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                    for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                        for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                            int64_t tid = threadIdx.x;
                            int64_t partner = tid ^ stride;
                            if (partner > tid) {
                                float a = mine[tid];
                                float b = mine[partner];
                                bool ascending = (tid & size) == 0;
                                if ((a > b) == ascending) {
                                    mine[tid] = b;
                                    mine[partner] = a;
                                }
                            }
                        }
                    }
                }
                stride /= 2;
            }
            size *= 2;
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    int64_t tid = threadIdx.x;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    data[i] = mine[tid];
                }
            }
        }
    }
}
