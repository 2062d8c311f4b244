extern "C" __global__ void histogram_shared(const unsigned char *data, int data_len, int *counts) {
    __shared__ int mine[32];
    int tid = threadIdx.x;
    int step = blockDim.x;
    for (int b = tid; b < 32; b += step) {
        mine[b] = 0;
    }
    __syncthreads();
    int step_1 = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < data_len; i += step_1) {
        atomicAdd(&mine[(int)data[i] >> 3], 1);
    }
    __syncthreads();
    int step_2 = blockDim.x;
    for (int b = tid; b < 32; b += step_2) {
        if (mine[b] > 0) {
            atomicAdd(&counts[b], mine[b]);
        }
    }
}
