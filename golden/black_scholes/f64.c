#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct black_scholes_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const double *p0_data0;
    int64_t p0_shape0;
    const double *p1_data0;
    const double *p2_data0;
    double p3_value0;
    double *p4_data0;
    double *p5_data0;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline double normal_below(double x) {
    return 0.5 * (1.0 + erf(x / sqrt(2.0)));
}

void black_scholes(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct black_scholes_args *const args = arguments;
    const double *price = args->p0_data0;
    int64_t price_len = args->p0_shape0;
    const double *strike = args->p1_data0;
    const double *years = args->p2_data0;
    double volatility = args->p3_value0;
    double *call = args->p4_data0;
    double *put = args->p5_data0;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        #pragma omp simd
        for (int64_t i = first_x; i < min_i64(last_x, price_len); ++i) {
            double deviation = volatility * sqrt(years[i]);
            double drift = (0.02 + 0.5 * volatility * volatility) * years[i];
            double d1 = (log(price[i] / strike[i]) + drift) / deviation;
            double d2 = d1 - deviation;
            double discounted = strike[i] * exp(-0.02 * years[i]);
            call[i] = price[i] * normal_below(d1) - discounted * normal_below(d2);
            put[i] = discounted * normal_below(-d2) - price[i] * normal_below(-d1);
        }
    }
}
