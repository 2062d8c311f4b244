extern "C" __global__ void grid_stride(const float *data, int data_len, float *out, float offset) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < data_len; i += gridDim.x * blockDim.x) {
        out[i] = data[i] * data[i] + offset;
    }
}
