#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct dot_product_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    int64_t p0_stride0;
    const float *p1_data0;
    int64_t p1_stride0;
    float *p2_data0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

// *place += value, atomic; returns the old value.
static inline float atomic_add_f32(float *place, float value) {
    float old, next;
    __atomic_load(place, &old, __ATOMIC_ACQUIRE);
    do {
        next = old + value;
    } while (!__atomic_compare_exchange(place, &old, &next, 1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return old;
}

void dot_product(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct dot_product_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    int64_t a_stride0 = args->p0_stride0;
    const float *b = args->p1_data0;
    int64_t b_stride0 = args->p1_stride0;
    float *out = args->p2_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float partial[64];
        float total[64];
        #pragma omp simd
        for (int64_t t = 0; t < 64; ++t) {
            total[t] = 0.0f;
        }
        for (int64_t i_first = blockIdx.x * 64; i_first < a_len; i_first += gridDim.x * 64) {
            #pragma omp simd
            for (int64_t tx = 0; tx < min_i64(64LL, a_len - i_first); ++tx) {
                int64_t i = i_first + tx;
                total[tx] += a[i * a_stride0] * b[i * b_stride0];
            }
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 64; ++tid) {
            partial[tid] = total[tid];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 32; ++tid) {
            partial[tid] += partial[tid + 32];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 16; ++tid) {
            partial[tid] += partial[tid + 16];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 8; ++tid) {
            partial[tid] += partial[tid + 8];
        }
        #pragma omp simd
        for (int64_t tid = 0; tid < 4; ++tid) {
            partial[tid] += partial[tid + 4];
        }
        for (int64_t tid = 0; tid < 2; ++tid) {
            partial[tid] += partial[tid + 2];
        }
        {
            const int64_t tid = 0;
            partial[tid] += partial[tid + 1];
        }
        {
            atomic_add_f32(&out[0], partial[0]);
        }
    }
}
