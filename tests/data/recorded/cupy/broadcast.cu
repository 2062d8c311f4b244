typedef float T;
typedef long long U;

extern "C" __global__ void scaled_rows(
    const T *_raw_x, const U *_raw_y, T *_raw_z, const int _x_s0, const int _y_s0,
    const int _z_s0, const unsigned int _n1, const ptrdiff_t _size
) {
    const ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < _size) {
        unsigned _i_left = (unsigned)i;
        const int _i1 = _i_left % _n1;
        _i_left /= _n1;
        const int _i0 = _i_left;
        const T x = _raw_x[_i0 * _x_s0 + _i1];
        const U y = _raw_y[_i0 * _y_s0];
        T &z = _raw_z[_i0 * _z_s0 + _i1];
        z = x * y;
    }
}
