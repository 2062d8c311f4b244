extern "C" __global__ void roots(const float *_in_x, float *_raw_x, const ptrdiff_t _size) {
    const ptrdiff_t i = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < _size) {
        float &x = _raw_x[i];
        x = _in_x[i];
        if (x < 0) return;
        x = sqrtf(x);
    }
}
