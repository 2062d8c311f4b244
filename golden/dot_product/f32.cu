extern "C" __global__ void dot_product(const float *a, int a_len, const float *b, float *out) {
    __shared__ float partial[64];
    int tid = threadIdx.x;
    float total = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a_len; i += gridDim.x * blockDim.x) {
        total += a[i] * b[i];
    }
    partial[tid] = total;
    __syncthreads();
    int half = 32;
    while (half > 0) {
        if (tid < half) {
            partial[tid] += partial[tid + half];
        }
        __syncthreads();
        half /= 2;
    }
    if (tid == 0) {
        atomicAdd(&out[0], partial[0]);
    }
}
