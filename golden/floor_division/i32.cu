// a // b: rounds down; 0 where b is 0.
__device__ __forceinline__ int floordiv_i32(int a, int b) {
    if (b == 0) return 0;
    if (b == -1) return (int)(0 - (unsigned int)a);
    return (int)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

// a % b: has the sign of b; 0 where b is 0.
__device__ __forceinline__ int mod_i32(int a, int b) {
    if (b == 0 || b == -1) return 0;
    const int remainder = (int)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (int)(remainder + b) : remainder;
}

extern "C" __global__ void floor_division(const int *a, int a_len, const int *b, int *quotient,
                                          int *remainder_) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_len) {
        quotient[i] = (unsigned int)floordiv_i32(a[i], b[i]) + i % 3;
        remainder_[i] = mod_i32(a[i], b[i]);
    }
}
