typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __device__ unsigned char l2norm_partial[sizeof(_Partial)];

// Reduce the values of the threads of each column; the threads of the first row have the results.
template <int threads, int columns, typename P, typename Join>
__device__ inline P _over_columns(P value, const Join &join) {
    __shared__ __align__(16) unsigned char memory[threads * sizeof(P)];
    P *const parts = (P *)memory;
    parts[threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int half = threads / 2; half >= columns; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
        }
        __syncthreads();
    }
    value = parts[threadIdx.x % columns];
    __syncthreads();
    return value;
}

// Return whether this block is the last of a group to write its partial result.
__device__ inline bool _is_last(unsigned int *done, unsigned int blocks) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(done, blocks - 1) == blocks - 1; // wraps to 0
    __syncthreads();
    __threadfence();
    return last;
}

// Write a value for other blocks. Padding bytes are written, because readers load whole words.
template <typename P>
__device__ inline void _write(P *to, const P &value) {
    if (sizeof(P) % 4 == 0 && alignof(P) % 4 == 0) {
        unsigned int words[(sizeof(P) + 3) / 4] = {};
        memcpy(words, &value, sizeof(P));
        for (int k = 0; k < sizeof(P) / 4; k++) ((unsigned int *)to)[k] = words[k];
    } else {
        *to = value;
    }
}

// Read a value that another block has written, bypassing the L1 cache.
template <typename P>
__device__ inline P _read(const P *from) {
    P found;
    if (sizeof(P) % 4 == 0 && alignof(P) % 4 == 0) {
        unsigned int words[(sizeof(P) + 3) / 4];
        for (int k = 0; k < sizeof(P) / 4; k++) words[k] = __ldcg((const unsigned int *)from + k);
        memcpy(&found, words, sizeof(P));
    } else {
        unsigned char bytes[sizeof(P)];
        for (int k = 0; k < sizeof(P); k++) bytes[k] = __ldcg((const unsigned char *)from + k);
        memcpy(&found, bytes, sizeof(P));
    }
    return found;
}

extern "C" __global__ void __launch_bounds__(256) l2norm(
    const T *_raw_x, const int _x_s1, T *_raw_y, const ptrdiff_t _rows,
    const ptrdiff_t _length, const ptrdiff_t _splits, _Partial *_partials,
    unsigned int *_done
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
    const ptrdiff_t _part = blockIdx.x % _splits, _group_at = blockIdx.x / _splits;
    const ptrdiff_t _i = _group_at * _lanes + threadIdx.x % _lanes;
    const int _begin = _part * _beside + threadIdx.x / _lanes;
    const int _step = _splits * _beside;
    _Partial _s = _type_reduce(0);
    if (_i < _rows) {
        const T *const _row_x = _raw_x + _i;
#pragma unroll 8
        for (int _J = _begin; _J < _length; _J += _step) {
            _s = _join(_s, _mapped(_row_x[_J * _x_s1]));
        }
    }
    _s = _over_columns<256, _lanes>(_s, _join);
    if (_splits > 1) {
        if (threadIdx.x < _lanes && _i < _rows) _write(&_partials[_part * _rows + _i], _s);
        if (!_is_last(&_done[_group_at], _splits)) return;
        _s = _type_reduce(0);
        for (ptrdiff_t _k = threadIdx.x / _lanes; _i < _rows && _k < _splits; _k += _beside) {
            _s = _join(_s, _read(&_partials[_k * _rows + _i]));
        }
        _s = _over_columns<256, _lanes>(_s, _join);
    }
    if (threadIdx.x < _lanes && _i < _rows) _finish(_i, _s);
}
