// a % b: has the sign of b; 0 where b is 0.
__device__ __forceinline__ long long mod_i64(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    const long long remainder = (long long)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (long long)(remainder + b) : remainder;
}

extern "C" __global__ void histogram_global(const long long *data, int data_len, int *counts,
                                            int counts_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < data_len) {
        atomicAdd(&counts[mod_i64(data[i], (long long)counts_len)], 1);
    }
}
