#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct primes_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    bool *p0_data0;
    int64_t p0_shape0;
    int64_t *p1_data0;
};

void primes(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct primes_args *const args = arguments;
    bool *is_prime = args->p0_data0;
    int64_t is_prime_len = args->p0_shape0;
    int64_t *count = args->p1_data0;
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
                    int64_t n = blockIdx.x * blockDim.x + threadIdx.x;
                    if (n >= is_prime_len) continue;
                    bool prime = n >= 2;
                    int64_t divisor = 2;
                    while (divisor * divisor <= n) {
                        if (n % divisor == 0) {
                            prime = false;
                            break;
                        }
                        divisor += 1;
                    }
                    is_prime[n] = prime;
                    if (prime) {
                        __atomic_fetch_add(&count[0], 1LL, __ATOMIC_RELAXED);
                    }
                }
            }
        }
    }
}
