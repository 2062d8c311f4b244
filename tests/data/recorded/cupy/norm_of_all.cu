typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __device__ unsigned char l2norm_partial[sizeof(_Partial)];

// Elements of one vector load.
template <typename T, int count>
struct alignas(sizeof(T) * count) _Pack {
    T values[count];
};

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

// Reduce the values of all threads of a block; the first thread has the result.
template <int threads, typename P, typename Join>
__device__ inline P _over_block(P value, const Join &join) {
    __shared__ __align__(16) unsigned char memory[threads / 32 * sizeof(P)];
    P *const parts = (P *)memory;
    value = _over_lanes<32>(value, join);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = parts[threadIdx.x % (threads / 32)];
        value = _over_lanes<threads / 32>(value, join);
    }
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
    const T *_raw_x, T *_raw_y, const ptrdiff_t _rows, const ptrdiff_t _length,
    const ptrdiff_t _splits, _Partial *_partials, unsigned int *_done
) {
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
    const auto &_join = _reduce;
    enum { _lanes = 256 };
    const ptrdiff_t _part = blockIdx.x % _splits, _group_at = blockIdx.x / _splits;
    const ptrdiff_t _i = _group_at;
    const int _begin = _part * _lanes + threadIdx.x;
    const int _step = _splits * _lanes;
    _Partial _s = _type_reduce(0);
    if (_i < _rows) {
        const T *const _row_x = _raw_x;
        const int _packs = _length / 4 * 4;
#pragma unroll 4
        for (int _p = _begin; _p < _packs / 4; _p += _step) {
            const _Pack<T, 4> _all_x = ((const _Pack<T, 4> *)_row_x)[_p];
#pragma unroll
            for (int _k = 0; _k < 4; _k++) {
                _s = _join(_s, _mapped(_all_x.values[_k]));
            }
        }
#pragma unroll 1
        for (int _J = _begin + _packs; _J < _length; _J += _step) {
            _s = _join(_s, _mapped(_row_x[_J]));
        }
    }
    _s = _over_block<_lanes>(_s, _join);
    if (_splits > 1) {
        if (threadIdx.x == 0 && _i < _rows) _write(&_partials[_part * _rows + _i], _s);
        if (!_is_last(&_done[_group_at], _splits)) return;
        _s = _type_reduce(0);
        for (ptrdiff_t _k = threadIdx.x; _i < _rows && _k < _splits; _k += _lanes) {
            _s = _join(_s, _read(&_partials[_k * _rows + _i]));
        }
        _s = _over_block<_lanes>(_s, _join);
    }
    if (threadIdx.x == 0 && _i < _rows) _finish(_i, _s);
}
