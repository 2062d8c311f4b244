extern "C" __global__ void grid_stride(const float *data, int data_len, int data_stride0,
                                       float *out, int out_stride0, float offset) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < data_len; i += gridDim.x * blockDim.x) {
        out[i * out_stride0] = data[i * data_stride0] * data[i * data_stride0] + offset;
    }
}
