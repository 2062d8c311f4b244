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
    double p1_value0;
    double p2_value0;
    double p3_value0;
};

void mandelbrot(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct mandelbrot_args *const args = arguments;
    int32_t *out = args->p0_data0;
    int64_t out_shape0 = args->p0_shape0;
    int64_t out_shape1 = args->p0_shape1;
    double left = args->p1_value0;
    double top = args->p2_value0;
    double step = args->p3_value0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        double ci_context[64];
        int32_t count_context[64];
        double cr_context[64];
        double zi_context[64];
        double zr_context[64];
        int32_t state_context[64];
        int32_t any_active = 0;
        for (int64_t ty = 0; ty < 8; ++ty) {
            #pragma omp simd
            for (int64_t tx = 0; tx < 8; ++tx) {
                int64_t t = ty * 8 + tx;
                state_context[t] = 0;
                int64_t x = blockIdx.x * 8 + tx;
                int64_t y = blockIdx.y * 8 + ty;
                if (x >= out_shape1 || y >= out_shape0) {
                    state_context[t] = 1;
                    continue;
                }
                cr_context[t] = left + step * x;
                ci_context[t] = top + step * y;
                zr_context[t] = 0.0;
                zi_context[t] = 0.0;
                count_context[t] = 0;
            }
        }
        while (true) {
            any_active = 0;
            #pragma omp simd reduction(|:any_active)
            for (int64_t t = 0; t < 64; ++t) {
                double ci = ci_context[t];
                int32_t count = count_context[t];
                double cr = cr_context[t];
                double zi = zi_context[t];
                double zr = zr_context[t];
                int32_t state_ = state_context[t];
                int32_t began = state_ == 0;
                int32_t running = began;
                for (int64_t round_ = 0; round_ < 4; ++round_) {
                    running &= (count < 40) & (zr * zr + zi * zi < 4.0);
                    double following = zr * zr - zi * zi + cr;
                    zi = 2.0 * zr * zi + ci;
                    zr = following;
                    count += running;
                }
                state_ |= 2 & -(began ^ running);
                any_active |= running;
                count_context[t] = count;
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
                if (state_context[t] == 2) {
                    state_context[t] = 0;
                }
                if (state_context[t] != 0) continue;
                int64_t x = blockIdx.x * 8 + tx;
                int64_t y = blockIdx.y * 8 + ty;
                out[y * out_shape1 + x] = count_context[t];
            }
        }
    }
}
