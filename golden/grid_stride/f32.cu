extern "C" __global__ void grid_stride(const float *data, int data_len, float *out, float offset) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < data_len; i += step) {
        out[i] = data[i] * data[i] + offset;
    }
}
