typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __device__ unsigned char l2norm_partial[sizeof(_Partial)];

// Return the value of the lane `distance` lanes after this one, in groups of `lanes`. As CUDA's
// shuffle, but for values of any size.
template <typename P>
__device__ inline P _shuffle_down(const P &value, int distance, int lanes) {
    unsigned int words[(sizeof(P) + 3) / 4] = {};
    memcpy(words, &value, sizeof(P));
    for (unsigned int &word : words) word = __shfl_down_sync(0xffffffff, word, distance, lanes);
    P result;
    memcpy(&result, words, sizeof(P));
    return result;
}

// Reduce the values of adjacent lanes of a warp; the first lane of each group has the result.
template <int lanes, typename P, typename Combine>
__device__ inline P _reduce_lanes(P value, const Combine &combine) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value = combine(value, _shuffle_down(value, distance, lanes));
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(256) l2norm(
    const T *_raw_x, const int _x_s0, T *_raw_y, const ptrdiff_t _row_count,
    const ptrdiff_t _row_length
) {
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
    const auto &_combine = _reduce;
    enum { _lanes = 32, _lane_groups = 8 };
    const ptrdiff_t _i = (ptrdiff_t)blockIdx.x * _lane_groups + threadIdx.x / _lanes;
    const int _begin = threadIdx.x % _lanes, _step = _lanes;
    _Partial _total = _type_reduce(0);
    if (_i < _row_count) {
        const T *const _row_x = _raw_x + _i * _x_s0;
#pragma unroll 8
        for (int _J = _begin; _J < _row_length; _J += _step) {
            _total = _combine(_total, _map(_row_x[_J]));
        }
    }
    _total = _reduce_lanes<_lanes>(_total, _combine);
    if (threadIdx.x % _lanes == 0 && _i < _row_count) _store_result(_i, _total);
}
