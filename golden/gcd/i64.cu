// a % b: has the sign of b; 0 where b is 0.
__device__ __forceinline__ long long mod_i64(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    const long long remainder = (long long)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (long long)(remainder + b) : remainder;
}

// The absolute value; the least integer wraps to itself.
__device__ __forceinline__ long long abs_i64(long long x) {
    return x < 0 ? (long long)(0 - (unsigned long long)x) : x;
}

__device__ long long greatest_common_divisor(long long a, long long b) {
    while (b != 0) {
        long long rest = mod_i64(a, b);
        a = b;
        b = rest;
    }
    return abs_i64(a);
}

extern "C" __global__ void gcd(const long long *a, const long long *b, long long *out,
                               int out_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < out_len) {
        out[i] = greatest_common_divisor(a[i], b[i]);
    }
}
