#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct julia_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    uint8_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float p1_value0;
    float p2_value0;
};

// a where the mask is 1, b where it is 0, without a branch.
static inline int32_t pick_i32(int32_t a, int32_t b, int32_t mask) {
    return (int32_t)(b ^ ((a ^ b) & -(uint32_t)mask));
}

void julia(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct julia_args *const args = arguments;
    uint8_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    float cr = args->p1_value0;
    float ci = args->p2_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        int32_t next_context[64];
        int32_t result_context[64];
        int32_t returned_context[64];
        float zi_context[64];
        float zr_context[64];
        int32_t state_context[64];
        #pragma omp simd
        for (int64_t t = 0; t < 64; ++t) {
            state_context[t] = 0;
        }
        int64_t height = out_shape0;
        int64_t width = out_shape1;
        int32_t any_active = 0;
        for (int64_t ty = 0; ty < 8; ++ty) {
            int64_t y = blockIdx.y * 8 + ty;
            #pragma omp simd reduction(|:any_active)
            for (int64_t tx = 0; tx < 8; ++tx) {
                int64_t t = ty * 8 + tx;
                int64_t x = blockIdx.x * 8 + tx;
                if (!(x < width && y < height)) {
                    state_context[t] = 2;
                    continue;
                }
                any_active |= 1;
            }
        }
        if (any_active != 0) {
            float cr_1 = cr;
            float ci_1 = ci;
            for (int64_t ty = 0; ty < 8; ++ty) {
                int64_t y = blockIdx.y * 8 + ty;
                float zi = (float)(y - height / 2.0) * 3.0f / height;
                #pragma omp simd
                for (int64_t tx = 0; tx < 8; ++tx) {
                    int64_t t = ty * 8 + tx;
                    if (state_context[t] != 0) continue;
                    int64_t x = blockIdx.x * 8 + tx;
                    float zr = (float)(x - width / 2.0) * 3.0f / width;
                    zr_context[t] = zr;
                    zi_context[t] = zi;
                    returned_context[t] = 0;
                    result_context[t] = 0;
                    next_context[t] = 0;
                }
            }
            while (true) {
                any_active = 0;
                #pragma omp simd reduction(|:any_active)
                for (int64_t t = 0; t < 64; ++t) {
                    int32_t next = next_context[t];
                    int32_t result = result_context[t];
                    int32_t returned = returned_context[t];
                    float zi = zi_context[t];
                    float zr = zr_context[t];
                    int32_t state_ = state_context[t];
                    int32_t began = state_ == 0;
                    int32_t running = began;
                    for (int64_t round_ = 0; round_ < 4; ++round_) {
                        running &= (int32_t)(next < 32);
                        int32_t count = next;
                        next += 1;
                        float square_r = zr * zr;
                        float square_i = zi * zi;
                        int32_t inside = running & (square_r + square_i > 4.0f);
                        result = pick_i32(count, result, inside);
                        returned = pick_i32(1, returned, inside);
                        running ^= inside;
                        zi = 2.0f * zr * zi + ci_1;
                        zr = square_r - square_i + cr_1;
                    }
                    state_ |= 3 & -(began ^ running);
                    any_active |= running;
                    next_context[t] = next;
                    result_context[t] = result;
                    returned_context[t] = returned;
                    zi_context[t] = zi;
                    zr_context[t] = zr;
                    state_context[t] = state_;
                }
                if (any_active == 0) break;
            }
            for (int64_t ty = 0; ty < 8; ++ty) {
                #pragma omp simd
                for (int64_t tx = 0; tx < 8; ++tx) {
                    int64_t t = ty * 8 + tx;
                    if (state_context[t] == 3) {
                        state_context[t] = 0;
                    }
                    if (state_context[t] != 0) continue;
                    if (!(bool)returned_context[t]) {
                        result_context[t] = 32;
                        returned_context[t] = 1;
                    }
                    int32_t result = result_context[t];
                    int64_t x = blockIdx.x * 8 + tx;
                    int64_t y = blockIdx.y * 8 + ty;
                    out[y * width + x] = result;
                }
            }
        }
    }
}
