typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __attribute__((visibility("default"))) const int64_t pycu2c_l2norm_partial = sizeof(_type_reduce);

struct _arguments_of_l2norm {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    T *_raw_y;
    ptrdiff_t _rows;
    ptrdiff_t _length;
    ptrdiff_t _splits;
    ptrdiff_t _piece;
    ptrdiff_t _group;
    _Partial *_partials;
    unsigned int *_done;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_l2norm(const void *_packed, int64_t _first, int64_t _last) {
    const _arguments_of_l2norm &_given = *(const _arguments_of_l2norm *)_packed;
    const T *_raw_x = _given._raw_x;
    T *_raw_y = _given._raw_y;
    const ptrdiff_t _rows = _given._rows;
    const ptrdiff_t _length = _given._length;
    const ptrdiff_t _splits = _given._splits;
    const ptrdiff_t _piece = _given._piece;
    const ptrdiff_t _group = _given._group;
    _Partial *_partials = _given._partials;
    unsigned int *_done = _given._done;
    const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {
        return a + b;
    };
    const auto _mapped = [&](const T x) -> _type_reduce {
        return static_cast<_type_reduce>(x * x);
    };
    const auto _finish = [&](ptrdiff_t _i, _type_reduce a) {
        T &y = _raw_y[0];
        y = sqrt(a);
    };
    for (int64_t _block = _first; _block < _last; _block++) {
        const ptrdiff_t _part = _block % _splits, _group_at = _block / _splits;
        const ptrdiff_t _begin = _part * _piece;
        const ptrdiff_t _end = _begin + _piece < _length ? _begin + _piece : _length;
        const ptrdiff_t _until = (_group_at + 1) * _group < _rows ? (_group_at + 1) * _group : _rows;
        for (ptrdiff_t _i = _group_at * _group; _i < _until; _i++) {
            const T *const _row_x = _raw_x;
            _type_reduce _lane[64];
            for (_type_reduce &_one : _lane) _one = _type_reduce(0);
            ptrdiff_t _J = _begin;
            for (; _J + 64 <= _end; _J += 64) {
#pragma omp simd
                for (ptrdiff_t _l = 0; _l < 64; _l++) {
                    _lane[_l] = _reduce(_lane[_l], _mapped(_row_x[(_J + _l)]));
                }
            }
            for (ptrdiff_t _l = 0; _l < _end - _J; _l++) {
                _lane[_l] = _reduce(_lane[_l], _mapped(_row_x[(_J + _l)]));
            }
            for (ptrdiff_t _half = 32; _half > 0; _half /= 2) {
                for (ptrdiff_t _l = 0; _l < _half; _l++) {
                    _lane[_l] = _reduce(_lane[_l], _lane[_l + _half]);
                }
            }
            if (_splits == 1) {
                _finish(_i, _lane[0]);
            } else {
                _partials[_part * _rows + _i] = _lane[0];
            }
        }
    }
    if (_splits > 1) {
        const unsigned int _now = (unsigned int)(_last - _first);
        const unsigned int _before = __atomic_fetch_add(_done, _now, __ATOMIC_ACQ_REL);
        if (_before + _now != _given.grid[0]) return;
        for (ptrdiff_t _k = 1; _k < _splits; _k++) {
#pragma omp simd
            for (ptrdiff_t _i = 0; _i < _rows; _i++) {
                _partials[_i] = _reduce(_partials[_i], _partials[_k * _rows + _i]);
            }
        }
        for (ptrdiff_t _i = 0; _i < _rows; _i++) {
            _finish(_i, _partials[_i]);
        }
    }
}
