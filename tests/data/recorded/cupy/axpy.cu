typedef float T;

extern "C" __global__ void axpy(const T *_raw_x, const T *_raw_y, const T a, T *_raw_z, const ptrdiff_t _size) {
    const ptrdiff_t _begin = (ptrdiff_t)blockIdx.x * (4 * blockDim.x) + threadIdx.x;
    T _read_x[4];
    T _read_y[4];
#pragma unroll
    for (int _k = 0; _k < 4; _k++) {
        const ptrdiff_t i = _begin + _k * blockDim.x;
        if (i < _size) {
            _read_x[_k] = _raw_x[i];
            _read_y[_k] = _raw_y[i];
        }
    }
#pragma unroll
    for (int _k = 0; _k < 4; _k++) {
        const ptrdiff_t i = _begin + _k * blockDim.x;
        if (i < _size) {
            const T x = _read_x[_k];
            const T y = _read_y[_k];
            T &z = _raw_z[i];
            z = a * x + y;
        }
    }
}
