__device__ float clamped(float value, float low, float high) {
    if (value < low) return low;
    if (value > high) return high;
    return value;
}

__device__ float smooth(float value, float low, float high) {
    return clamped(value, low, high) * clamped(high - value, low, high);
}

extern "C" __global__ void clamp(const float *data, int data_len, float *out, float low,
                                 float high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < data_len) {
        out[i] = smooth(data[i], low, high);
    }
}
