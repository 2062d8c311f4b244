typedef float T;

struct _arguments_of_axpy {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    const T *_raw_y;
    T a;
    T *_raw_z;
    ptrdiff_t _size;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_axpy(const void *_packed, int64_t _first, int64_t _last) {
    const _arguments_of_axpy &_given = *(const _arguments_of_axpy *)_packed;
    const T *_raw_x = _given._raw_x;
    const T *_raw_y = _given._raw_y;
    const T a = _given.a;
    T *_raw_z = _given._raw_z;
    const ptrdiff_t _size = _given._size;
    const ptrdiff_t _begin = _first * 1024;
    const ptrdiff_t _end = _last * 1024 < _size ? _last * 1024 : _size;
#pragma omp simd
    for (ptrdiff_t i = _begin; i < _end; i++) {
        const T x = _raw_x[i];
        const T y = _raw_y[i];
        T &z = _raw_z[i];
        z = a * x + y;
    }
}
