#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct warp_sum_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
};

// *place += value, in one step; gives the old value.
static inline float atomic_add_f32(float *place, float value) {
    float old, next;
    __atomic_load(place, &old, __ATOMIC_ACQUIRE);
    do {
        next = old + value;
    } while (!__atomic_compare_exchange(place, &old, &next, 1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return old;
}

void warp_sum(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct warp_sum_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    float *out = args->p1_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float sent[128];
        float sent_1[128];
        float sent_2[128];
        float sent_3[128];
        float sent_4[128];
        float sent_5[128];
        float sent_6[128];
        float sent_7[128];
        float sent_8[128];
        float sent_9[128];
        float sums[32];
        float x[128];
        float x_1[128];
        #pragma omp simd
        for (int64_t tx = 0; tx < 128; ++tx) {
            int64_t i = blockIdx.x * 128 + tx;
            x[tx] = i < a_len ? a[i] : 0.0f;
            sent[tx] = x[tx];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 128; ++t) {
            float result = ((int32_t)t & 31) + 16 < 32 ? sent[t + 16] : sent[t];
            x[t] += result;
            sent_1[t] = x[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 128; ++t) {
            float result = ((int32_t)t & 31) + 8 < 32 ? sent_1[t + 8] : sent_1[t];
            x[t] += result;
            sent_2[t] = x[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 128; ++t) {
            float result = ((int32_t)t & 31) + 4 < 32 ? sent_2[t + 4] : sent_2[t];
            x[t] += result;
            sent_3[t] = x[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 128; ++t) {
            float result = ((int32_t)t & 31) + 2 < 32 ? sent_3[t + 2] : sent_3[t];
            x[t] += result;
            sent_4[t] = x[t];
        }
        #pragma omp simd
        for (int64_t tx = 0; tx < 128; ++tx) {
            float result = ((int32_t)tx & 31) + 1 < 32 ? sent_4[tx + 1] : sent_4[tx];
            int64_t warp = tx / 32;
            x[tx] += result;
            float result_1 = x[tx];
            float x_2 = result_1;
            if ((tx & 31) == 0) {
                sums[warp] = x_2;
            }
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            x_1[t] = (t & 31) < 128 / 32LL ? sums[t & 31] : 0.0f;
            sent_5[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            float result = ((int32_t)t & 31) + 16 < 32 ? sent_5[t + 16] : sent_5[t];
            x_1[t] += result;
            sent_6[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            float result = ((int32_t)t & 31) + 8 < 32 ? sent_6[t + 8] : sent_6[t];
            x_1[t] += result;
            sent_7[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            float result = ((int32_t)t & 31) + 4 < 32 ? sent_7[t + 4] : sent_7[t];
            x_1[t] += result;
            sent_8[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            float result = ((int32_t)t & 31) + 2 < 32 ? sent_8[t + 2] : sent_8[t];
            x_1[t] += result;
            sent_9[t] = x_1[t];
        }
        for (int64_t t = 0; t < 32; ++t) {
            float result = ((int32_t)t & 31) + 1 < 32 ? sent_9[t + 1] : sent_9[t];
            x_1[t] += result;
            float result_1 = x_1[t];
            float x_2 = result_1;
            if ((t & 31) == 0) {
                atomic_add_f32(&out[0], x_2);
            }
        }
    }
}
