// a // b: rounds down; 0 where b is 0.
__device__ __forceinline__ signed char floordiv_i8(signed char a, signed char b) {
    if (b == 0) return 0;
    if (b == -1) return (signed char)(0 - (unsigned int)a);
    return (signed char)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

// a % b: has the sign of b; 0 where b is 0.
__device__ __forceinline__ signed char mod_i8(signed char a, signed char b) {
    if (b == 0 || b == -1) return 0;
    const signed char remainder = (signed char)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (signed char)(remainder + b) : remainder;
}

extern "C" __global__ void floor_division(const signed char *a, int a_len, const signed char *b,
                                          signed char *quotient, signed char *remainder_) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_len) {
        quotient[i] = floordiv_i8(a[i], b[i]) + (signed char)(i % 3);
        remainder_[i] = mod_i8(a[i], b[i]);
    }
}
