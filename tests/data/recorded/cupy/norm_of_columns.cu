typedef float T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __device__ unsigned char l2norm_partial[sizeof(_Partial)];

// Reduce the values of the threads of each column; the threads of the first row have the results.
template <int threads, int columns, typename P, typename Combine>
__device__ inline P _reduce_columns(P value, const Combine &combine) {
    __shared__ __align__(16) unsigned char memory[threads * sizeof(P)];
    P *const partials = (P *)memory;
    partials[threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int half = threads / 2; half >= columns; half /= 2) {
        if (threadIdx.x < half) {
            partials[threadIdx.x] = combine(partials[threadIdx.x], partials[threadIdx.x + half]);
        }
        __syncthreads();
    }
    value = partials[threadIdx.x % columns];
    __syncthreads();
    return value;
}

// Return whether this block is the last of a group of blocks to write its partial result. Sets the
// counter to 0 for the next launch.
__device__ inline bool _is_last_block(unsigned int *finished_blocks, unsigned int blocks) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(finished_blocks, blocks - 1) == blocks - 1;
    __syncthreads();
    __threadfence();
    return last;
}

// Write a value for other blocks. Padding bytes are written, because readers load whole words.
template <typename P>
__device__ inline void _store_partial(P *to, const P &value) {
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
__device__ inline P _load_partial(const P *from) {
    P result;
    if (sizeof(P) % 4 == 0 && alignof(P) % 4 == 0) {
        unsigned int words[(sizeof(P) + 3) / 4];
        for (int k = 0; k < sizeof(P) / 4; k++) words[k] = __ldcg((const unsigned int *)from + k);
        memcpy(&result, words, sizeof(P));
    } else {
        unsigned char bytes[sizeof(P)];
        for (int k = 0; k < sizeof(P); k++) bytes[k] = __ldcg((const unsigned char *)from + k);
        memcpy(&result, bytes, sizeof(P));
    }
    return result;
}

extern "C" __global__ void __launch_bounds__(256) l2norm(
    const T *_raw_x, const int _x_s1, T *_raw_y, const ptrdiff_t _row_count,
    const ptrdiff_t _row_length, const ptrdiff_t _part_count, _Partial *_partials,
    unsigned int *_finished_blocks
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
    const ptrdiff_t _part_index = blockIdx.x % _part_count;
    const ptrdiff_t _group_index = blockIdx.x / _part_count;
    const ptrdiff_t _i = _group_index * _lanes + threadIdx.x % _lanes;
    const int _begin = _part_index * _lane_groups + threadIdx.x / _lanes;
    const int _step = _part_count * _lane_groups;
    _Partial _total = _type_reduce(0);
    if (_i < _row_count) {
        const T *const _row_x = _raw_x + _i;
#pragma unroll 8
        for (int _J = _begin; _J < _row_length; _J += _step) {
            _total = _combine(_total, _map(_row_x[_J * _x_s1]));
        }
    }
    _total = _reduce_columns<256, _lanes>(_total, _combine);
    if (_part_count > 1) {
        if (threadIdx.x < _lanes && _i < _row_count)
            _store_partial(&_partials[_part_index * _row_count + _i], _total);
        if (!_is_last_block(&_finished_blocks[_group_index], _part_count)) return;
        _total = _type_reduce(0);
        for (ptrdiff_t _k = threadIdx.x / _lanes; _i < _row_count && _k < _part_count; _k += _lane_groups) {
            _total = _combine(_total, _load_partial(&_partials[_k * _row_count + _i]));
        }
        _total = _reduce_columns<256, _lanes>(_total, _combine);
    }
    if (threadIdx.x < _lanes && _i < _row_count) _store_result(_i, _total);
}
