__device__ int clamped(int value, int low, int high) {
    if (value < low) return low;
    if (value > high) return high;
    return value;
}

__device__ int smooth(int value, int low, int high) {
    return (unsigned int)clamped(value, low, high) * clamped((int)((unsigned int)high - value), low, high);
}

extern "C" __global__ void clamp(const int *data, int data_len, int *out, int low, int high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < data_len) {
        out[i] = smooth(data[i], low, high);
    }
}
