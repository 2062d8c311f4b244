struct _arguments_of_roots {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const float *_in_x;
    float *_raw_x;
    ptrdiff_t _size;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_roots(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_roots &_arguments = *(const _arguments_of_roots *)_packed_arguments;
    const float *_in_x = _arguments._in_x;
    float *_raw_x = _arguments._raw_x;
    const ptrdiff_t _size = _arguments._size;
    const ptrdiff_t _begin = _first_block * 1024;
    const ptrdiff_t _end = _last_block * 1024 < _size ? _last_block * 1024 : _size;
    for (ptrdiff_t i = _begin; i < _end; i++) {
        float &x = _raw_x[i];
        x = _in_x[i];
        [&] {
            do {
                if (x < 0) return;
                x = sqrtf(x);
            } while (0);
        }();
    }
}
