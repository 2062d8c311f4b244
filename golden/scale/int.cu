extern "C" __global__ void scale(const float *arr, int arr_len, int arr_stride0, float *out,
                                 int out_stride0, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < arr_len) {
        out[i * out_stride0] = arr[i * arr_stride0] * factor;
    }
}
