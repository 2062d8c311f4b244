extern "C" __global__ void reduce_sum(const float *data, int data_len, int data_stride0, float *out,
                                      int out_stride0) {
    __shared__ float shared[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;
    if (i < data_len) {
        shared[tid] = data[i * data_stride0];
    } else {
        shared[tid] = 0.0f;
    }
    __syncthreads();
    int s = 128;
    while (s > 0) {
        if (tid < s) {
            shared[tid] += shared[tid + s];
        }
        __syncthreads();
        s /= 2;
    }
    if (tid == 0) {
        out[(int)blockIdx.x * out_stride0] = shared[0];
    }
}
