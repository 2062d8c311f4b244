extern "C" __global__ void histogram_shared(const unsigned char *data, int data_len, int *counts) {
    __shared__ int mine[32];
    int tid = threadIdx.x;
    for (int b = tid; b < 32; b += blockDim.x) {
        mine[b] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < data_len; i += gridDim.x * blockDim.x) {
        atomicAdd(&mine[data[i] >> 3], 1);
    }
    __syncthreads();
    for (int b = tid; b < 32; b += blockDim.x) {
        if (mine[b] > 0) {
            atomicAdd(&counts[b], mine[b]);
        }
    }
}
