extern "C" __global__ void negative_index(const float *data, int data_len, int data_stride0,
                                          const int *shift, int shift_stride0, float *out,
                                          int out_len, int out_stride0) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        float last = data[(data_len - 1) * data_stride0];
        float mirrored = data[(data_len + (-1 - i)) * data_stride0];
        int at = i - 1;
        float before = data[(at < 0 ? at + data_len : at) * data_stride0];
        int at_1 = shift[i * shift_stride0];
        float moved = data[(at_1 < 0 ? at_1 + data_len : at_1) * data_stride0];
        float inner = i > 0 ? data[(i - 1) * data_stride0] : data[0];
        out[(out_len + (i - out_len)) * out_stride0] = 16.0f * last + 8.0f * mirrored + 4.0f * before + 2.0f * moved + inner;
    }
}
