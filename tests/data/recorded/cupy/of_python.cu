struct i32_i32 {
    int item0;
    int item1;
};

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

static __device__ __forceinline__ struct i32_i32 divmod__operation(int x, int y) {
    return i32_i32{floordiv_i32(x, y), mod_i32(x, y)};
}

extern "C" __global__ void divmod_(const int *_raw_x, const int y, int *_raw_q, int *_raw_r, const ptrdiff_t _size) {
    const ptrdiff_t _begin = (ptrdiff_t)blockIdx.x * (4 * blockDim.x) + threadIdx.x;
    int _read_x[4];
#pragma unroll
    for (int _k = 0; _k < 4; _k++) {
        const ptrdiff_t i = _begin + _k * blockDim.x;
        if (i < _size) {
            _read_x[_k] = _raw_x[i];
        }
    }
#pragma unroll
    for (int _k = 0; _k < 4; _k++) {
        const ptrdiff_t i = _begin + _k * blockDim.x;
        if (i < _size) {
            const int x = _read_x[_k];
            int &q = _raw_q[i];
            int &r = _raw_r[i];
            const auto _results = divmod__operation(x, y);
            q = _results.item0;
            r = _results.item1;
        }
    }
}
