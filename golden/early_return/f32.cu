extern "C" __global__ void early_return(const float *data, int data_len, float *out) {
    __shared__ float neighbours[32];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= data_len) return;
    neighbours[tid] = data[i];
    __syncthreads();
    float left = tid > 0 ? neighbours[tid - 1] : neighbours[tid];
    float right = (tid + 1 < 32 && i + 1 < data_len) ? neighbours[tid + 1] : neighbours[tid];
    __syncthreads();
    neighbours[tid] = (left + right) * 0.5f;
    __syncthreads();
    out[i] = neighbours[tid] + neighbours[0];
}
