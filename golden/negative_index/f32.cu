extern "C" __global__ void negative_index(const float *data, int data_len, const int *shift,
                                          float *out, int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        float last = data[data_len - 1];
        float mirrored = data[data_len + (-1 - i)];
        int at = i - 1;
        float before = data[at < 0 ? at + data_len : at];
        int at_1 = shift[i];
        float moved = data[at_1 < 0 ? at_1 + data_len : at_1];
        float inner = i > 0 ? data[i - 1] : data[0];
        out[out_len + (i - out_len)] = 16.0f * last + 8.0f * mirrored + 4.0f * before + 2.0f * moved + inner;
    }
}
