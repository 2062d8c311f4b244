typedef float T;

extern "C" __global__ void axpy(const T *_raw_x, const T *_raw_y, const T a, T *_raw_z, const ptrdiff_t _size) {
    const ptrdiff_t _step = (ptrdiff_t)gridDim.x * blockDim.x;
    for (ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x; i < _size; i += _step) {
        const T x = _raw_x[i];
        const T y = _raw_y[i];
        T &z = _raw_z[i];
        z = a * x + y;
    }
}
