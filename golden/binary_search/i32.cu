extern "C" __global__ void binary_search(const int *ordered, int ordered_len, int ordered_stride0,
                                         const int *needles, int needles_len, int needles_stride0,
                                         long long *places) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= needles_len) return;
    int low = 0;
    int high = ordered_len;
    while (low < high) {
        int middle = (low + high) / 2;
        if (ordered[middle * ordered_stride0] < needles[i * needles_stride0]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    places[i] = low;
}
