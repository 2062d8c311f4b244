// max(a, b) as in Python: a unless b > a.
__device__ __forceinline__ float max_f32(float a, float b) {
    return b > a ? b : a;
}

extern "C" __global__ void block_max(const float *data, int data_len, float *best, int *place) {
    __shared__ float value[64];
    __shared__ int where[64];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    value[tid] = data[min(i, data_len - 1)];
    where[tid] = min(i, data_len - 1);
    __syncthreads();
    int step = 32;
    while (step != 0) {
        if (tid < step && value[tid] < value[tid + step]) {
            value[tid] = max_f32(value[tid], value[tid + step]);
            where[tid] = where[tid + step];
        }
        __syncthreads();
        step >>= 1;
    }
    if (tid == 0) {
        best[blockIdx.x] = value[0];
        place[blockIdx.x] = where[0];
    }
}
