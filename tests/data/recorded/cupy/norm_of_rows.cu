typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __device__ unsigned char l2norm_partial[sizeof(_Partial)];

// Return the value of the lane that is `ahead` lanes after this one, in groups of `lanes`.
template <typename P>
__device__ inline P _of_lane(const P &value, int ahead, int lanes) {
    unsigned int words[(sizeof(P) + 3) / 4] = {};
    memcpy(words, &value, sizeof(P));
    for (unsigned int &word : words) word = __shfl_down_sync(0xffffffff, word, ahead, lanes);
    P found;
    memcpy(&found, words, sizeof(P));
    return found;
}

// Reduce the values of adjacent lanes of a warp; the first lane of each group has the result.
template <int lanes, typename P, typename Join>
__device__ inline P _over_lanes(P value, const Join &join) {
#pragma unroll
    for (int ahead = lanes / 2; ahead > 0; ahead /= 2) {
        value = join(value, _of_lane(value, ahead, lanes));
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(256) l2norm(
    const T *_raw_x, const int _x_s0, T *_raw_y, const ptrdiff_t _rows,
    const ptrdiff_t _length
) {
    const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {
        return a + b;
    };
    const auto _mapped = [&](const T x) -> _type_reduce {
        return static_cast<_type_reduce>(x * x);
    };
    const auto _finish = [&](ptrdiff_t _i, _type_reduce a) {
        T &y = _raw_y[_i];
        y = sqrt(a);
    };
    const auto &_join = _reduce;
    enum { _lanes = 32, _beside = 8 };
    const ptrdiff_t _i = (ptrdiff_t)blockIdx.x * _beside + threadIdx.x / _lanes;
    const int _begin = threadIdx.x % _lanes, _step = _lanes;
    _Partial _s = _type_reduce(0);
    if (_i < _rows) {
        const T *const _row_x = _raw_x + _i * _x_s0;
#pragma unroll 8
        for (int _J = _begin; _J < _length; _J += _step) {
            _s = _join(_s, _mapped(_row_x[_J]));
        }
    }
    _s = _over_lanes<_lanes>(_s, _join);
    if (threadIdx.x % _lanes == 0 && _i < _rows) _finish(_i, _s);
}
