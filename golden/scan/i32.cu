extern "C" __global__ void scan(const int *data, int data_len, int *out, int out_len) {
    __shared__ int sums[64];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[tid] = i < data_len ? data[i] : 0;
    __syncthreads();
    int distance = 1;
    while (distance < 64) {
        int addend = 0;
        if (tid >= distance) {
            addend = sums[tid - distance];
        }
        __syncthreads();
        sums[tid] += (unsigned int)addend;
        __syncthreads();
        distance *= 2;
    }
    if (i < out_len) {
        out[i] = sums[tid];
    }
}
