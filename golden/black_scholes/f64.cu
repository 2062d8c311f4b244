__device__ double normal_below(double x) {
    return 0.5 * (1.0 + erf(x / sqrt(2.0)));
}

extern "C" __global__ void black_scholes(const double *price, int price_len, const double *strike,
                                         const double *years, double volatility, double *call,
                                         double *put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= price_len) return;
    double deviation = volatility * sqrt(years[i]);
    double drift = (0.02 + 0.5 * volatility * volatility) * years[i];
    double d1 = (log(price[i] / strike[i]) + drift) / deviation;
    double d2 = d1 - deviation;
    double discounted = strike[i] * exp(-0.02 * years[i]);
    call[i] = price[i] * normal_below(d1) - discounted * normal_below(d2);
    put[i] = discounted * normal_below(-d2) - price[i] * normal_below(-d1);
}
