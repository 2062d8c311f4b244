#include <math.h>
#include <stdint.h>
#include "kernels.h"

// the vector forms of glibc, which it declares only under -ffast-math
__attribute__((simd("notinbranch"), const)) float expf(float);
__attribute__((simd("notinbranch"), const)) float logf(float);

static inline float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = k * (0.31938153f +
                      k * (-0.356563782f +
                           k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    tail *= 0.3989422804014327f * expf(-0.5f * d * d);
    return d > 0.0f ? 1.0f - tail : tail;
}

void black_scholes(float *call, float *put, const float *price, const float *strike,
                   const float *years, float rate, float volatility, int64_t n)
{
#pragma omp parallel for simd schedule(dynamic, 1 << 15)
    for (int64_t i = 0; i < n; i++) {
        float p = price[i], s = strike[i], t = years[i];
        float spread = volatility * sqrtf(t);
        float d = (logf(p / s) + (rate + 0.5f * volatility * volatility) * t) / spread;
        float n1 = normal_cdf(d), n2 = normal_cdf(d - spread);
        float discounted = s * expf(-rate * t);
        call[i] = p * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - p * (1.0f - n1);
    }
}
