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

extern "C" __attribute__((visibility("default"))) void pycu2c_axpy(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_axpy &_arguments = *(const _arguments_of_axpy *)_packed_arguments;
    const T *_raw_x = _arguments._raw_x;
    const T *_raw_y = _arguments._raw_y;
    const T a = _arguments.a;
    T *_raw_z = _arguments._raw_z;
    const ptrdiff_t _size = _arguments._size;
    const ptrdiff_t _begin = _first_block * 1024;
    const ptrdiff_t _end = _last_block * 1024 < _size ? _last_block * 1024 : _size;
#pragma omp simd
    for (ptrdiff_t i = _begin; i < _end; i++) {
        const T x = _raw_x[i];
        const T y = _raw_y[i];
        T &z = _raw_z[i];
        z = a * x + y;
    }
}
