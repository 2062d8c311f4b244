extern "C" __global__ void stencil(const float *a, int a_shape0, int a_shape1, float *out,
                                   int out_shape1, float weight) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = a_shape0;
    int width = a_shape1;
    if (x >= width || y >= height) return;
    float result = a[y * width + x];
    if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
        float neighbours = a[y * width + x - 1] + a[y * width + x + 1] + a[(y - 1) * width + x] + a[(y + 1) * width + x];
        result += weight * (neighbours - 4.0f * a[y * width + x]);
    }
    out[y * out_shape1 + x] = result;
}

extern "C" __global__ void stencil_large(const float *a, long long a_shape0, long long a_shape1,
                                         float *out, long long out_shape1, float weight) {
    long long x = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    long long height = a_shape0;
    long long width = a_shape1;
    if (x >= width || y >= height) return;
    float result = a[y * width + x];
    if (0 < x && x < width - 1 && (0 < y && y < height - 1)) {
        float neighbours = a[y * width + x - 1] + a[y * width + x + 1] + a[(y - 1) * width + x] + a[(y + 1) * width + x];
        result += weight * (neighbours - 4.0f * a[y * width + x]);
    }
    out[y * out_shape1 + x] = result;
}

extern "C" __global__ void block_sums(const double *a, int a_len, int a_stride0, double *sums,
                                      int first) {
    __shared__ double tile[128];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[t] = (first <= i && i < a_len) ? a[i * a_stride0] : 0.0;
    __syncthreads();
    int step = 64;
    while (step > 0) {
        if (t < step) {
            tile[t] += tile[t + step];
        }
        __syncthreads();
        step /= 2;
    }
    if (t == 0) {
        sums[blockIdx.x] = tile[0];
    }
}

extern "C" __global__ void block_sums_large(const double *a, long long a_len, long long a_stride0,
                                            double *sums, int first) {
    __shared__ double tile[128];
    int t = threadIdx.x;
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    tile[t] = (first <= i && i < a_len) ? a[i * a_stride0] : 0.0;
    __syncthreads();
    int step = 64;
    while (step > 0) {
        if (t < step) {
            tile[t] += tile[t + step];
        }
        __syncthreads();
        step /= 2;
    }
    if (t == 0) {
        sums[blockIdx.x] = tile[0];
    }
}

__device__ float normal(float x) {
    return 0.5f * erfcf(-x * 0.70710677f);
}

extern "C" __global__ void black_scholes_f32(const float *price, int price_len, const float *strike,
                                             const float *years, float rate, float volatility,
                                             float *result, bool is_put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < price_len) {
        float deviation = volatility * sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + volatility * volatility / 2.0f) * years[i]) / deviation;
        float discounted = strike[i] * expf(-rate * years[i]);
        float call = price[i] * normal(d1) - discounted * normal(d1 - deviation);
        result[i] = is_put ? call - price[i] + discounted : call;
    }
}

extern "C" __global__ void black_scholes_f32_large(const float *price, long long price_len,
                                                  const float *strike, const float *years,
                                                  float rate, float volatility, float *result,
                                                  bool is_put) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < price_len) {
        float deviation = volatility * sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + volatility * volatility / 2.0f) * years[i]) / deviation;
        float discounted = strike[i] * expf(-rate * years[i]);
        float call = price[i] * normal(d1) - discounted * normal(d1 - deviation);
        result[i] = is_put ? call - price[i] + discounted : call;
    }
}

__device__ double normal_1(double x) {
    return 0.5 * erfc(-x * 0.7071067811865476);
}

extern "C" __global__ void black_scholes_f64(const double *price, int price_len,
                                             const double *strike, const double *years, double rate,
                                             double volatility, double *result, bool is_put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < price_len) {
        double deviation = volatility * sqrt(years[i]);
        double d1 = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2.0) * years[i]) / deviation;
        double discounted = strike[i] * exp(-rate * years[i]);
        double call = price[i] * normal_1(d1) - discounted * normal_1(d1 - deviation);
        result[i] = is_put ? call - price[i] + discounted : call;
    }
}

extern "C" __global__ void black_scholes_f64_large(const double *price, long long price_len,
                                                  const double *strike, const double *years,
                                                  double rate, double volatility, double *result,
                                                  bool is_put) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < price_len) {
        double deviation = volatility * sqrt(years[i]);
        double d1 = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2.0) * years[i]) / deviation;
        double discounted = strike[i] * exp(-rate * years[i]);
        double call = price[i] * normal_1(d1) - discounted * normal_1(d1 - deviation);
        result[i] = is_put ? call - price[i] + discounted : call;
    }
}
