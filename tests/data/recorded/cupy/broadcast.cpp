typedef float T;
typedef long long U;

struct _arguments_of_scaled_rows {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    const U *_raw_y;
    T *_raw_z;
    ptrdiff_t _x_s0;
    ptrdiff_t _y_s0;
    ptrdiff_t _z_s0;
    ptrdiff_t _n1;
    ptrdiff_t _size;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_scaled_rows(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_scaled_rows &_arguments = *(const _arguments_of_scaled_rows *)_packed_arguments;
    const T *_raw_x = _arguments._raw_x;
    const U *_raw_y = _arguments._raw_y;
    T *_raw_z = _arguments._raw_z;
    const ptrdiff_t _x_s0 = _arguments._x_s0;
    const ptrdiff_t _y_s0 = _arguments._y_s0;
    const ptrdiff_t _z_s0 = _arguments._z_s0;
    const ptrdiff_t _n1 = _arguments._n1;
    const ptrdiff_t _size = _arguments._size;
    const ptrdiff_t _begin = _first_block * 1024;
    const ptrdiff_t _end = _last_block * 1024 < _size ? _last_block * 1024 : _size;
    for (ptrdiff_t _row = _begin; _row < _end;) {
        ptrdiff_t _i_left = _row;
        const ptrdiff_t _i1 = _i_left % _n1;
        _i_left /= _n1;
        const ptrdiff_t _i0 = _i_left;
        const ptrdiff_t _count = _n1 - _i1 < _end - _row ? _n1 - _i1 : _end - _row;
        const T *const _at_raw_x = _raw_x + _i0 * _x_s0 + _i1;
        const U *const _at_raw_y = _raw_y + _i0 * _y_s0;
        T *const _at_raw_z = _raw_z + _i0 * _z_s0 + _i1;
#pragma omp simd
        for (ptrdiff_t _j = 0; _j < _count; _j++) {
            const T x = _at_raw_x[_j];
            const U y = _at_raw_y[0];
            T &z = _at_raw_z[_j];
            z = x * y;
        }
        _row += _count;
    }
}
