#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct ballot_compact_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int64_t p0_shape0;
    int32_t *p1_data0;
    int64_t p1_shape0;
    int32_t *p2_data0;
};

void ballot_compact(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct ballot_compact_args *const args = arguments;
    const int32_t *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    int32_t *out = args->p1_data0;
    int64_t out_len = args->p1_shape0;
    int32_t *count = args->p2_data0;
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
        int64_t holds[2];
        for (int64_t holds_1 = 0; holds_1 < 2; ++holds_1) {
            holds[holds_1] = 0;
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    bool predicate = i < a_len && a[i] > 0;
                    holds[thread >> 5] += predicate ? 1LL << (thread & 31) : 0;
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t kept = holds[thread >> 5] & 4294967295LL;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    int64_t first = i - (thread & 31);
                    if (((kept >> (thread & 31)) & 1) != 0) {
                        int64_t at = first + (int64_t)__builtin_popcountll(kept & ((1LL << (thread & 31)) - 1));
                        out[at < 0 ? at + out_len : at] = a[i];
                    }
                    if ((thread & 31) == 0) {
                        count[first / 32] = __builtin_popcountll(kept);
                    }
                }
            }
        }
    }
}
