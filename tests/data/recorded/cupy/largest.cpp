typedef double T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __attribute__((visibility("default"))) const int64_t pycu2c_largest_partial = sizeof(_type_reduce);

struct _arguments_of_largest {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    long long _x_s0;
    long long _x_s1;
    T *_raw_y;
    ptrdiff_t _rows;
    ptrdiff_t _length;
    ptrdiff_t _splits;
    ptrdiff_t _piece;
    ptrdiff_t _group;
    long long _n2;
    _Partial *_partials;
    unsigned int *_done;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_largest(const void *_packed, int64_t _first, int64_t _last) {
    const _arguments_of_largest &_given = *(const _arguments_of_largest *)_packed;
    const T *_raw_x = _given._raw_x;
    const long long _x_s0 = _given._x_s0;
    const long long _x_s1 = _given._x_s1;
    T *_raw_y = _given._raw_y;
    const ptrdiff_t _rows = _given._rows;
    const ptrdiff_t _length = _given._length;
    const ptrdiff_t _splits = _given._splits;
    const ptrdiff_t _piece = _given._piece;
    const ptrdiff_t _group = _given._group;
    const long long _n2 = _given._n2;
    _Partial *_partials = _given._partials;
    unsigned int *_done = _given._done;
    const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {
        return max(a, b);
    };
    const auto _mapped = [&](const T x) -> _type_reduce {
        return static_cast<_type_reduce>(x);
    };
    const auto _finish = [&](ptrdiff_t _i, _type_reduce a) {
        T &y = _raw_y[_i];
        y = a;
    };
    for (int64_t _block = _first; _block < _last; _block++) {
        const ptrdiff_t _part = _block % _splits, _group_at = _block / _splits;
        const ptrdiff_t _begin = _part * _piece;
        const ptrdiff_t _end = _begin + _piece < _length ? _begin + _piece : _length;
        const ptrdiff_t _until = (_group_at + 1) * _group < _rows ? (_group_at + 1) * _group : _rows;
        for (ptrdiff_t _i = _group_at * _group; _i < _until; _i++) {
            const T *const _row_x = _raw_x + _i * _x_s0;
            _type_reduce _lane[64];
            ptrdiff_t _live = 0; // of the lanes have a value
            for (ptrdiff_t _from = _begin; _from < _end;) {
                ptrdiff_t _along_left = _from;
                const ptrdiff_t _along1 = _along_left % _n2;
                _along_left /= _n2;
                const ptrdiff_t _along0 = _along_left;
                const ptrdiff_t _count = _n2 - _along1 < _end - _from ? _n2 - _along1 : _end - _from;
                ptrdiff_t _J = _from;
                for (; _J + 64 <= _from + _count; _J += 64) {
#pragma omp simd
                    for (ptrdiff_t _l = 0; _l < 64; _l++) {
                        _lane[_l] = _l < _live ? _reduce(_lane[_l], _mapped(_row_x[_along0 * _x_s1 + (_along1 + (_J + _l) - _from)])) : _mapped(_row_x[_along0 * _x_s1 + (_along1 + (_J + _l) - _from)]);
                    }
                    if (_live < 64) _live = 64;
                }
                for (ptrdiff_t _l = 0; _l < _from + _count - _J; _l++) {
                    _lane[_l] = _l < _live ? _reduce(_lane[_l], _mapped(_row_x[_along0 * _x_s1 + (_along1 + (_J + _l) - _from)])) : _mapped(_row_x[_along0 * _x_s1 + (_along1 + (_J + _l) - _from)]);
                }
                if (_live < _from + _count - _J) _live = _from + _count - _J;
                _from += _count;
            }
            for (ptrdiff_t _half = 32; _half > 0; _half /= 2) {
                for (ptrdiff_t _l = 0; _l < _half; _l++) {
                    if (_l + _half < _live) _lane[_l] = _reduce(_lane[_l], _lane[_l + _half]);
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
