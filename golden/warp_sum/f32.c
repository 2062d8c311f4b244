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

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
static inline void prefetch_f32(const float *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
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
        if (last_block - block > 8) {
            prefetch_f32(&a[blockIdx.x * 128], 1024LL, 128LL);
        }
        if (128 <= a_len - blockIdx.x * 128) {
            #pragma omp simd
            for (int64_t tx = 0; tx < 128; ++tx) {
                int64_t i = blockIdx.x * 128 + tx;
                x[tx] = a[i];
                sent[tx] = x[tx];
            }
        } else {
            #pragma omp simd
            for (int64_t tx = 0; tx < 128; ++tx) {
                int64_t i = blockIdx.x * 128 + tx;
                x[tx] = i < a_len ? a[i] : 0.0f;
                sent[tx] = x[tx];
            }
        }
        for (int64_t warp = 0; warp < 4; ++warp) {
            #pragma omp simd
            for (int64_t lane = 0; lane < 16; ++lane) {
                int64_t t = warp * 32 + lane;
                float result = sent[t + 16];
                x[t] += result;
                sent_1[t] = x[t];
            }
        }
        for (int64_t warp = 0; warp < 4; ++warp) {
            #pragma omp simd
            for (int64_t lane = 0; lane < 8; ++lane) {
                int64_t t = warp * 32 + lane;
                float result = sent_1[t + 8];
                x[t] += result;
                sent_2[t] = x[t];
            }
        }
        for (int64_t warp = 0; warp < 4; ++warp) {
            #pragma omp simd
            for (int64_t lane = 0; lane < 4; ++lane) {
                int64_t t = warp * 32 + lane;
                float result = sent_2[t + 4];
                x[t] += result;
                sent_3[t] = x[t];
            }
        }
        for (int64_t warp = 0; warp < 4; ++warp) {
            for (int64_t lane = 0; lane < 2; ++lane) {
                int64_t t = warp * 32 + lane;
                float result = sent_3[t + 2];
                x[t] += result;
                sent_4[t] = x[t];
            }
        }
        for (int64_t tx = 0; tx < 128; tx += 32) {
            float result = sent_4[tx + 1];
            int64_t warp = tx / 32;
            x[tx] += result;
            float result_1 = x[tx];
            float x_2 = result_1;
            sums[warp] = x_2;
        }
        #pragma omp simd
        for (int64_t t = 0; t < 32; ++t) {
            x_1[t] = (t & 31) < 128 / 32LL ? sums[t & 31] : 0.0f;
            sent_5[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 16; ++t) {
            float result = sent_5[t + 16];
            x_1[t] += result;
            sent_6[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 8; ++t) {
            float result = sent_6[t + 8];
            x_1[t] += result;
            sent_7[t] = x_1[t];
        }
        #pragma omp simd
        for (int64_t t = 0; t < 4; ++t) {
            float result = sent_7[t + 4];
            x_1[t] += result;
            sent_8[t] = x_1[t];
        }
        for (int64_t t = 0; t < 2; ++t) {
            float result = sent_8[t + 2];
            x_1[t] += result;
            sent_9[t] = x_1[t];
        }
        {
            const int64_t t = 0;
            float result = sent_9[t + 1];
            x_1[t] += result;
            float result_1 = x_1[t];
            float x_2 = result_1;
            atomic_add_f32(&out[0], x_2);
        }
    }
}
