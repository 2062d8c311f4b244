typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __attribute__((visibility("default"))) const int64_t pycu2c_l2norm_partial = sizeof(_type_reduce);

struct _arguments_of_l2norm {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    long long _x_s1;
    T *_raw_y;
    ptrdiff_t _row_count;
    ptrdiff_t _row_length;
    ptrdiff_t _part_count;
    ptrdiff_t _part_length;
    long long _n0;
    _Partial *_partials;
    unsigned int *_finished_blocks;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_l2norm(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_l2norm &_arguments = *(const _arguments_of_l2norm *)_packed_arguments;
    const T *_raw_x = _arguments._raw_x;
    const long long _x_s1 = _arguments._x_s1;
    T *_raw_y = _arguments._raw_y;
    const ptrdiff_t _row_count = _arguments._row_count;
    const ptrdiff_t _row_length = _arguments._row_length;
    const ptrdiff_t _part_count = _arguments._part_count;
    const ptrdiff_t _part_length = _arguments._part_length;
    const long long _n0 = _arguments._n0;
    _Partial *_partials = _arguments._partials;
    unsigned int *_finished_blocks = _arguments._finished_blocks;
    const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {
        return a + b;
    };
    const auto _map = [&](const T x) -> _type_reduce {
        return static_cast<_type_reduce>(x * x);
    };
    const auto _store_result = [&](ptrdiff_t _i, _type_reduce a) {
        T &y = _raw_y[_i];
        y = sqrt(a);
    };
    for (int64_t _block = _first_block; _block < _last_block; _block++) {
        const ptrdiff_t _part_index = _block % _part_count, _group_index = _block / _part_count;
        const ptrdiff_t _begin = _part_index * _part_length, _part_end = _begin + _part_length;
        const ptrdiff_t _end = _part_end < _row_length ? _part_end : _row_length;
        const ptrdiff_t _column_chunks = (_n0 + 2047) / 2048;
        const ptrdiff_t _first_column = _group_index % _column_chunks * 2048;
        const ptrdiff_t _first_row = _group_index / _column_chunks * _n0 + _first_column;
        const ptrdiff_t _columns_left = _n0 - _first_column;
        const ptrdiff_t _column_count = _columns_left < 2048 ? _columns_left : 2048;
        _type_reduce _lane[2048];
        const T *const _row_x = _raw_x + _first_row;
        ptrdiff_t _J = _begin;
        if (_J < _end) {
            const T *const _elements_x = _row_x + _J * _x_s1;
#pragma omp simd
            for (ptrdiff_t _column_index = 0; _column_index < _column_count; _column_index++) {
                _lane[_column_index] = _map(_elements_x[_column_index]);
            }
            _J++;
        }
        for (; _J + 4 <= _end; _J += 4) {
            const T *const _elements_x = _row_x + _J * _x_s1;
            const T *const _elements1_x = _row_x + (_J + 1) * _x_s1;
            const T *const _elements2_x = _row_x + (_J + 2) * _x_s1;
            const T *const _elements3_x = _row_x + (_J + 3) * _x_s1;
#pragma omp simd
            for (ptrdiff_t _column_index = 0; _column_index < _column_count; _column_index++) {
                _lane[_column_index] = _reduce(_reduce(_reduce(_reduce(_lane[_column_index], _map(_elements_x[_column_index])), _map(_elements1_x[_column_index])), _map(_elements2_x[_column_index])), _map(_elements3_x[_column_index]));
            }
        }
        for (; _J < _end; _J++) {
            const T *const _elements_x = _row_x + _J * _x_s1;
#pragma omp simd
            for (ptrdiff_t _column_index = 0; _column_index < _column_count; _column_index++) {
                _lane[_column_index] = _reduce(_lane[_column_index], _map(_elements_x[_column_index]));
            }
        }
        for (ptrdiff_t _column_index = 0; _column_index < _column_count; _column_index++) {
            if (_part_count == 1) {
                _store_result((_first_row + _column_index), _lane[_column_index]);
            } else {
                _partials[_part_index * _row_count + (_first_row + _column_index)] = _lane[_column_index];
            }
        }
    }
    if (_part_count > 1) {
        const unsigned int _own_blocks = (unsigned int)(_last_block - _first_block);
        const unsigned int _earlier_blocks =
            __atomic_fetch_add(_finished_blocks, _own_blocks, __ATOMIC_ACQ_REL);
        if (_earlier_blocks + _own_blocks != _arguments.grid[0]) return;
        for (ptrdiff_t _k = 1; _k < _part_count; _k++) {
#pragma omp simd
            for (ptrdiff_t _i = 0; _i < _row_count; _i++) {
                _partials[_i] = _reduce(_partials[_i], _partials[_k * _row_count + _i]);
            }
        }
        for (ptrdiff_t _i = 0; _i < _row_count; _i++) {
            _store_result(_i, _partials[_i]);
        }
    }
}
