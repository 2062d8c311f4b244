extern "C" __global__ void rounding(const double *data, int data_len, long long *out,
                                    int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= data_len) return;
    double value = data[i];
    out[i * out_shape1] = llrint(value);
    out[i * out_shape1 + 1] = (long long)value;
    out[i * out_shape1 + 2] = (long long)floor(value);
    out[i * out_shape1 + 3] = (long long)ceil(value);
    out[i * out_shape1 + 4] = llrint(value * 2.0) + (long long)(value != 0.0);
}
