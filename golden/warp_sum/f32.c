#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

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
    __atomic_load(place, &old, __ATOMIC_RELAXED);
    do {
        next = old + value;
    } while (!__atomic_compare_exchange(place, &old, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

void warp_sum(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct warp_sum_args *const args = arguments;
    const float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    float *out = args->p1_data0;
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
        float x_1[128];
        float x_2[128];
        int32_t state_[128];
        bool live = true;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    state_[thread] = 0;
                    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
                    x_1[thread] = i < a_len ? a[i] : 0.0f;
                    sent[thread] = x_1[thread];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    float result = ((int32_t)thread & 31) + 16 < 32 ? sent[thread + 16] : sent[thread];
                    x_1[thread] += result;
                    sent_1[thread] = x_1[thread];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    float result = ((int32_t)thread & 31) + 8 < 32 ? sent_1[thread + 8] : sent_1[thread];
                    x_1[thread] += result;
                    sent_2[thread] = x_1[thread];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    float result = ((int32_t)thread & 31) + 4 < 32 ? sent_2[thread + 4] : sent_2[thread];
                    x_1[thread] += result;
                    sent_3[thread] = x_1[thread];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    float result = ((int32_t)thread & 31) + 2 < 32 ? sent_3[thread + 2] : sent_3[thread];
                    x_1[thread] += result;
                    sent_4[thread] = x_1[thread];
                }
            }
        }
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    float result = ((int32_t)thread & 31) + 1 < 32 ? sent_4[thread + 1] : sent_4[thread];
                    int64_t warp = threadIdx.x / 32;
                    x_1[thread] += result;
                    float result_1 = x_1[thread];
                    float x = result_1;
                    if ((thread & 31) == 0) {
                        sums[warp] = x;
                    }
                }
            }
        }
        live = false;
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
            for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                    int64_t warp = threadIdx.x / 32;
                    if (warp != 0) {
                        state_[thread] = 2;
                        continue;
                    }
                    live = true;
                }
            }
        }
        if (live) {
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        if (state_[thread] != 0) continue;
                        x_2[thread] = (thread & 31) < 128 / 32LL ? sums[thread & 31] : 0.0f;
                        sent_5[thread] = x_2[thread];
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        if (state_[thread] != 0) continue;
                        float result = ((int32_t)thread & 31) + 16 < 32 ? sent_5[thread + 16] : sent_5[thread];
                        x_2[thread] += result;
                        sent_6[thread] = x_2[thread];
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        if (state_[thread] != 0) continue;
                        float result = ((int32_t)thread & 31) + 8 < 32 ? sent_6[thread + 8] : sent_6[thread];
                        x_2[thread] += result;
                        sent_7[thread] = x_2[thread];
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        if (state_[thread] != 0) continue;
                        float result = ((int32_t)thread & 31) + 4 < 32 ? sent_7[thread + 4] : sent_7[thread];
                        x_2[thread] += result;
                        sent_8[thread] = x_2[thread];
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        if (state_[thread] != 0) continue;
                        float result = ((int32_t)thread & 31) + 2 < 32 ? sent_8[thread + 2] : sent_8[thread];
                        x_2[thread] += result;
                        sent_9[thread] = x_2[thread];
                    }
                }
            }
            for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z) {
                for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y) {
                    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
                        const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                        if (state_[thread] != 0) continue;
                        float result = ((int32_t)thread & 31) + 1 < 32 ? sent_9[thread + 1] : sent_9[thread];
                        float x;
                        x_2[thread] += result;
                        float result_1 = x_2[thread];
                        x = result_1;
                        if ((thread & 31) == 0) {
                            atomic_add_f32(&out[0], x);
                        }
                    }
                }
            }
        }
    }
}
