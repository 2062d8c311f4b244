extern "C" __global__ void binary_search(const float *ordered, int ordered_len,
                                         const float *needles, int needles_len, long long *places) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= needles_len) return;
    int low = 0;
    int high = ordered_len;
    while (low < high) {
        int middle = (low + high) / 2;
        if (ordered[middle] < needles[i]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    places[i] = low;
}
