#include <stdbool.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct mandelbrot_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    int32_t *p0_data0;
    int64_t p0_shape0;
    int64_t p0_shape1;
    float p1_value0;
    float p2_value0;
    float p3_value0;
};

void mandelbrot(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct mandelbrot_args *const args = arguments;
    int32_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    float left = args->p1_value0;
    float top = args->p2_value0;
    float step = args->p3_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float ci_of[64];
        int32_t count_of[64];
        float cr_of[64];
        float zi_of[64];
        float zr_of[64];
        int32_t state_of[64];
        int32_t live = 1;
        for (int64_t ty = 0; ty < 8; ++ty) {
            #pragma omp simd
            for (int64_t tx = 0; tx < 8; ++tx) {
                int64_t t = ty * 8 + tx;
                state_of[t] = 0;
                int64_t x = blockIdx.x * 8 + tx;
                int64_t y = blockIdx.y * 8 + ty;
                if (x >= out_shape1 || y >= out_shape0) {
                    state_of[t] = 1;
                    continue;
                }
                cr_of[t] = left + step * (float)x;
                ci_of[t] = top + step * (float)y;
                zr_of[t] = 0.0f;
                zi_of[t] = 0.0f;
                count_of[t] = 0;
            }
        }
        while (true) {
            live = 0;
            #pragma omp simd reduction(|:live)
            for (int64_t t = 0; t < 64; ++t) {
                float ci = ci_of[t];
                int32_t count = count_of[t];
                float cr = cr_of[t];
                float zi = zi_of[t];
                float zr = zr_of[t];
                int32_t state_ = state_of[t];
                int32_t began = state_ == 0;
                int32_t running = began;
                for (int64_t round_ = 0; round_ < 4; ++round_) {
                    running &= (count < 40) & (zr * zr + zi * zi < 4.0f);
                    float following = zr * zr - zi * zi + cr;
                    zi = 2.0f * zr * zi + ci;
                    zr = following;
                    count += running;
                }
                state_ |= 2 & -(began ^ running);
                live |= running;
                count_of[t] = count;
                zi_of[t] = zi;
                zr_of[t] = zr;
                state_of[t] = state_;
            }
            if (live == 0) break;
        }
        for (int64_t ty = 0; ty < 8; ++ty) {
            #pragma omp simd
            for (int64_t tx = 0; tx < 8; ++tx) {
                int64_t t = ty * 8 + tx;
                if (state_of[t] == 2) {
                    state_of[t] = 0;
                }
                if (state_of[t] != 0) continue;
                int64_t x = blockIdx.x * 8 + tx;
                int64_t y = blockIdx.y * 8 + ty;
                out[y * out_shape1 + x] = count_of[t];
            }
        }
    }
}
