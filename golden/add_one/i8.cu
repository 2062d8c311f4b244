extern "C" __global__ void add_one(const signed char *arr, int arr_len, signed char *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < arr_len) {
        out[i] = arr[i] + 1;
    }
}
