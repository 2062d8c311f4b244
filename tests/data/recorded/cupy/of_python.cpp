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

struct _arguments_of_divmod_ {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const int *_raw_x;
    int y;
    int *_raw_q;
    int *_raw_r;
    ptrdiff_t _size;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_divmod_(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_divmod_ &_arguments = *(const _arguments_of_divmod_ *)_packed_arguments;
    const int *_raw_x = _arguments._raw_x;
    const int y = _arguments.y;
    int *_raw_q = _arguments._raw_q;
    int *_raw_r = _arguments._raw_r;
    const ptrdiff_t _size = _arguments._size;
    const ptrdiff_t _begin = _first_block * 1024;
    const ptrdiff_t _end = _last_block * 1024 < _size ? _last_block * 1024 : _size;
#pragma omp simd
    for (ptrdiff_t i = _begin; i < _end; i++) {
        const int x = _raw_x[i];
        int &q = _raw_q[i];
        int &r = _raw_r[i];
        const auto _results = divmod__operation(x, y);
        q = _results.item0;
        r = _results.item1;
    }
}
