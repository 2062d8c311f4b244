typedef double T;

typedef T _type_reduce;

typedef _type_reduce _Partial;

extern "C" __attribute__((visibility("default"))) const int64_t pycu2c_largest_partial = sizeof(_type_reduce);

// Reduce rows on the CPU: a row holds the elements of one result. A block reduces rows, adjacent
// columns (rows that are interleaved in memory), or a part of long rows. The last block to finish
// combines the parts.
struct _BlockRange {
    int64_t first, last, all;
};

struct _RowSizes {
    ptrdiff_t rows, length, line, parts, part_length, rows_per_group;
};

// Reduce the elements from `begin` to `end` of a row in several accumulators, the lanes, which SIMD
// instructions update together. A line is a part of the row with one stride.
template <bool has_identity, int lanes, typename P, typename Elements, typename Reduce>
static inline P _reduce_row(
    ptrdiff_t row, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t line, P identity,
    const Elements &elements, const Reduce &reduce) {
    P lane[lanes];
    ptrdiff_t used = 0; // number of lanes that have a value
    if constexpr (has_identity) {
        for (P &value : lane) value = identity;
        used = lanes;
    }
    for (ptrdiff_t position = begin; position < end;) {
        const ptrdiff_t rest = line - position % line, left = end - position;
        const ptrdiff_t count = rest < left ? rest : left;
        const auto element = elements(row, position);
        const auto accumulate = [&](ptrdiff_t k, ptrdiff_t at) {
            if constexpr (has_identity)
                lane[k] = reduce(lane[k], element(at + k));
            else
                lane[k] = k < used ? reduce(lane[k], element(at + k)) : element(at + k);
        };
        ptrdiff_t at = 0;
        for (; at + lanes <= count; at += lanes) {
#pragma omp simd
            for (ptrdiff_t k = 0; k < lanes; k++) accumulate(k, at);
            used = lanes;
        }
        for (ptrdiff_t k = 0; k < count - at; k++) accumulate(k, at);
        used = used < count - at ? count - at : used;
        position += count;
    }
    for (ptrdiff_t half = lanes / 2; half > 0; half /= 2)
        for (ptrdiff_t k = 0; k < half; k++)
            if (has_identity || k + half < used) lane[k] = reduce(lane[k], lane[k + half]);
    return lane[0];
}

// Reduce adjacent columns at the same time, with one column per SIMD lane.
template <typename P, typename Elements, typename Reduce>
static inline void _reduce_columns(
    ptrdiff_t column, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t count, P *totals,
    const Elements &elements, const Reduce &reduce) {
    const auto first = elements(column, begin);
#pragma omp simd
    for (ptrdiff_t k = 0; k < count; k++) totals[k] = first(k);
    ptrdiff_t row = begin + 1;
    for (; row + 4 <= end; row += 4) { // fewer loads and stores of the totals
        const auto a = elements(column, row), b = elements(column, row + 1);
        const auto c = elements(column, row + 2), d = elements(column, row + 3);
#pragma omp simd
        for (ptrdiff_t k = 0; k < count; k++)
            totals[k] = reduce(reduce(reduce(reduce(totals[k], a(k)), b(k)), c(k)), d(k));
    }
    for (; row < end; row++) {
        const auto element = elements(column, row);
#pragma omp simd
        for (ptrdiff_t k = 0; k < count; k++) totals[k] = reduce(totals[k], element(k));
    }
}

// Combine the partial results of all blocks in order, if these blocks are the last ones.
template <typename P, typename Reduce, typename Store>
static inline void _combine_parts(
    const _RowSizes &sizes, const _BlockRange &blocks, const Reduce &reduce, const Store &store,
    P *partials, unsigned int *finished_blocks) {
    const unsigned int own = (unsigned int)(blocks.last - blocks.first);
    const unsigned int earlier = __atomic_fetch_add(finished_blocks, own, __ATOMIC_ACQ_REL);
    if (earlier + own != blocks.all) return;
    for (ptrdiff_t part = 1; part < sizes.parts; part++) {
#pragma omp simd
        for (ptrdiff_t i = 0; i < sizes.rows; i++)
            partials[i] = reduce(partials[i], partials[part * sizes.rows + i]);
    }
    for (ptrdiff_t i = 0; i < sizes.rows; i++) store(i, partials[i]);
}

// `elements(row, position)` returns a function of k: the mapped elements of a line of the row from a
// position on, or of a column and the columns after it. `lanes`: those of a row, or 0 for columns.
template <bool has_identity, int lanes, typename P, typename Elements, typename Reduce, typename Store>
static inline void _reduce_blocks(
    const _RowSizes &sizes, const _BlockRange &blocks, P identity, const Elements &elements,
    const Reduce &reduce, const Store &store, P *partials, unsigned int *finished_blocks) {
    constexpr int columns = 2048; // of a block
    for (int64_t block = blocks.first; block < blocks.last; block++) {
        const ptrdiff_t part = block % sizes.parts, group = block / sizes.parts;
        const ptrdiff_t begin = part * sizes.part_length, part_end = begin + sizes.part_length;
        const ptrdiff_t end = part_end < sizes.length ? part_end : sizes.length;
        const auto finish = [&](ptrdiff_t row, const P &value) {
            if (sizes.parts == 1)
                store(row, value);
            else
                partials[part * sizes.rows + row] = value;
        };
        if constexpr (lanes == 0) {
            const ptrdiff_t chunks = (sizes.line + columns - 1) / columns;
            const ptrdiff_t start = group % chunks * columns, left = sizes.line - start;
            const ptrdiff_t first = group / chunks * sizes.line + start;
            const ptrdiff_t count = left < columns ? left : columns;
            P totals[columns];
            _reduce_columns(first, begin, end, count, totals, elements, reduce);
            for (ptrdiff_t k = 0; k < count; k++) finish(first + k, totals[k]);
        } else {
            const ptrdiff_t first = group * sizes.rows_per_group;
            for (ptrdiff_t i = first; i < first + sizes.rows_per_group && i < sizes.rows; i++)
                finish(i, _reduce_row<has_identity, lanes>(
                              i, begin, end, sizes.line, identity, elements, reduce));
        }
    }
    if (sizes.parts > 1)
        _combine_parts(sizes, blocks, reduce, store, partials, finished_blocks);
}

struct _arguments_of_largest {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    T *_raw_y;
    ptrdiff_t _x_s0;
    ptrdiff_t _x_s1;
    ptrdiff_t _row_count;
    ptrdiff_t _row_length;
    ptrdiff_t _part_count;
    ptrdiff_t _part_length;
    ptrdiff_t _rows_per_group;
    ptrdiff_t _n2;
    _Partial *_partials;
    unsigned int *_finished_blocks;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_largest(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_largest &_arguments = *(const _arguments_of_largest *)_packed_arguments;
    const T *_raw_x = _arguments._raw_x;
    T *_raw_y = _arguments._raw_y;
    const ptrdiff_t _x_s0 = _arguments._x_s0;
    const ptrdiff_t _x_s1 = _arguments._x_s1;
    const ptrdiff_t _row_count = _arguments._row_count;
    const ptrdiff_t _row_length = _arguments._row_length;
    const ptrdiff_t _part_count = _arguments._part_count;
    const ptrdiff_t _part_length = _arguments._part_length;
    const ptrdiff_t _rows_per_group = _arguments._rows_per_group;
    const ptrdiff_t _n2 = _arguments._n2;
    _Partial *_partials = _arguments._partials;
    unsigned int *_finished_blocks = _arguments._finished_blocks;
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
    const auto _elements = [&](ptrdiff_t _row, ptrdiff_t _position) {
        ptrdiff_t _reduced_left = _position;
        const ptrdiff_t _reduced1 = _reduced_left % _n2;
        _reduced_left /= _n2;
        const ptrdiff_t _reduced0 = _reduced_left;
        const T *const _at_x = _raw_x + _row * _x_s0 + _reduced0 * _x_s1 + _reduced1;
        return [=, &_map](ptrdiff_t _k) -> _type_reduce {
            return _map(_at_x[_k]);
        };
    };
    const _RowSizes _sizes = {_row_count, _row_length, _n2, _part_count, _part_length, _rows_per_group};
    const _BlockRange _blocks = {_first_block, _last_block, _arguments.grid[0]};
    _reduce_blocks<false, 64>(_sizes, _blocks, _type_reduce(), _elements, _reduce, _store_result, _partials, _finished_blocks);
}
