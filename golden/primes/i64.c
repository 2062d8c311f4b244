#include <stdbool.h>
#include <stdint.h>

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

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void primes(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct primes_args *const args = arguments;
    bool *is_prime = args->p0_data0;
    int64_t is_prime_len = args->p0_shape0;
    int64_t *count = args->p1_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        for (int64_t tx = 0; tx < min_i64(64LL, is_prime_len - blockIdx.x * 64); ++tx) {
            int64_t n = blockIdx.x * 64 + tx;
            bool prime = n >= 2;
            int32_t divisor = 2;
            while (divisor * divisor <= (int32_t)n) {
                if ((int32_t)n % divisor == 0) {
                    prime = false;
                    break;
                }
                divisor += 1;
            }
            is_prime[n] = prime;
            if (prime) {
                __atomic_fetch_add(&count[0], 1LL, __ATOMIC_ACQUIRE);
            }
        }
    }
}
