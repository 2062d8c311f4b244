typedef double T;

typedef T _type_reduce;

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

// Reduce the values of all threads of a block; the first thread has the result.
template <int threads, typename P, typename Combine>
__device__ inline P _reduce_block(P value, const Combine &combine) {
    __shared__ __align__(16) unsigned char memory[threads / 32 * sizeof(P)];
    P *const partials = (P *)memory;
    value = _reduce_lanes<32>(value, combine);
    if (threadIdx.x % 32 == 0) partials[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = partials[threadIdx.x % (threads / 32)];
        value = _reduce_lanes<threads / 32>(value, combine);
    }
    __syncthreads();
    return value;
}

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

// A value, or none yet: without an identity there is no initial value.
template <typename T>
struct _Optional {
    T value;
    bool has_value;
};

template <typename T, typename Reduce>
struct _CombineOptional {
    const Reduce &reduce;
    __device__ _Optional<T> operator()(const _Optional<T> &a, const _Optional<T> &b) const {
        if (!a.has_value) return b;
        return b.has_value ? _Optional<T>{reduce(a.value, b.value), true} : a;
    }
};

// Reduce rows. `accumulate(total, row, begin, step)` adds the elements begin, begin + step, … of a row.
// A block has groups of `lanes` threads. With `by_columns`, the threads of a group process different
// rows, which are interleaved in memory; else they process one row. The last block of a long row
// combines the partial results.
template <int threads, int lanes, bool by_columns, typename I, typename P, typename Accumulate, typename Combine, typename Store>
__device__ inline void _reduce_grid(
    ptrdiff_t rows, ptrdiff_t parts, const P &initial, const Accumulate &accumulate,
    const Combine &combine, const Store &store, P *partials, unsigned int *finished_blocks) {
    constexpr int groups = threads / lanes;
    constexpr bool in_warps = lanes <= 32 && !by_columns; // without parts
    const int lane = threadIdx.x % lanes, subgroup = threadIdx.x / lanes;
    const ptrdiff_t part = in_warps ? 0 : blockIdx.x % parts;
    const ptrdiff_t group = in_warps ? blockIdx.x : blockIdx.x / parts;
    const ptrdiff_t row = by_columns ? group * lanes + lane : in_warps ? group * groups + subgroup : group;
    const I width = by_columns ? groups : lanes, position = by_columns ? subgroup : lane;
    const bool writes = (by_columns ? subgroup == 0 : lane == 0) && row < rows;
    const auto combine_block = [&](const P &value) -> P {
        if (by_columns) return _reduce_columns<threads, lanes>(value, combine);
        if (in_warps) return _reduce_lanes<lanes>(value, combine);
        return _reduce_block<threads>(value, combine);
    };
    P total = initial;
    const I begin = in_warps ? position : (I)part * width + position;
    if (row < rows) accumulate(total, row, begin, in_warps ? width : (I)parts * width);
    total = combine_block(total);
    if (!in_warps && parts > 1) {
        if (writes) _store_partial(&partials[part * rows + row], total);
        if (!_is_last_block(&finished_blocks[group], parts)) return;
        total = initial;
        for (ptrdiff_t k = position; row < rows && k < parts; k += width)
            total = combine(total, _load_partial(&partials[k * rows + row]));
        total = combine_block(total);
    }
    if (writes) store(row, total);
}

typedef _Optional<_type_reduce> _Partial;

extern "C" __device__ unsigned char largest_partial[sizeof(_Partial)];

extern "C" __global__ void __launch_bounds__(256) largest(
    const T *_raw_x, T *_raw_y, const int _x_s0, const int _x_s1,
    const ptrdiff_t _row_count, const ptrdiff_t _row_length, const ptrdiff_t _part_count,
    const int _n2, _Partial *_partials, unsigned int *_finished_blocks
) {
    const auto _reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce {
        return max(a, b);
    };
    const auto _map = [&](const T x) -> _type_reduce {
        return static_cast<_type_reduce>(x);
    };
    const auto _store_result = [&](ptrdiff_t _i, _type_reduce a) {
        T &y = _raw_y[_i];
        y = a;
    };
    const auto _elements = [&](ptrdiff_t _row, int _position) {
        ptrdiff_t _reduced_left = _position;
        const ptrdiff_t _reduced1 = _reduced_left % _n2;
        _reduced_left /= _n2;
        const ptrdiff_t _reduced0 = _reduced_left;
        const T *const _at_x = _raw_x + _row * _x_s0 + _reduced0 * _x_s1 + _reduced1;
        return [=, &_map](ptrdiff_t _k) -> _type_reduce {
            return _map(_at_x[_k]);
        };
    };
    const auto _combine = _CombineOptional<_type_reduce, decltype(_reduce)>{_reduce};
    const auto _accumulate = [&](_Partial &_total, ptrdiff_t _row, int _begin, int _step) {
#pragma unroll 8
        for (int _J = _begin; _J < _row_length; _J += _step) _total = _combine(_total, _Partial{_elements(_row, _J)(0), true});
    };
    const auto _store = [&](ptrdiff_t _i, const _Partial &a) {
        _store_result(_i, a.value);
    };
    _reduce_grid<256, 256, false, int>(
        _row_count, _part_count, _Partial{{}, false}, _accumulate, _combine, _store, _partials, _finished_blocks);
}
