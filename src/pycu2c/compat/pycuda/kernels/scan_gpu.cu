// Each block scans a contiguous piece in tiles; a thread scans adjacent elements. A first kernel
// computes the totals of the pieces. Then each block combines the totals before its own, and scans
// its piece. The order of elements is preserved.
#define ITEMS_PER_TILE_ (THREADS_ * ITEMS_PER_THREAD_)
// The elements of a tile, and after them the totals of its warps. The type may have a constructor,
// which an array in shared memory must not have.
#define DECLARE_SHARED_TILE_ \
    __shared__ __align__(16) unsigned char \
        shared_memory_[(ITEMS_PER_TILE_ + THREADS_ / 32) * sizeof(scan_type)]; \
    scan_type *const tile = (scan_type *)shared_memory_

// Scan the elements from `first` to `end`, and return their total, combined with `carry` if
// `has_carry`: the total of the elements before. If `writes`, write the prefix of each element to
// the output: with the element, or if EXCLUSIVE_ without it.
template <bool writes>
static __device__ scan_type scan_range_(
    const scan_type *input, scan_type *output, long first, long end, scan_type carry,
    bool has_carry, scan_type *tile)
{
    scan_type *const warp_totals = tile + ITEMS_PER_TILE_;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int thread_first = threadIdx.x * ITEMS_PER_THREAD_; // index of the thread's first element
    for (; first < end; first += ITEMS_PER_TILE_) {
        const int count = end - first < ITEMS_PER_TILE_ ? (int)(end - first) : ITEMS_PER_TILE_;
        const int active_threads = (count + ITEMS_PER_THREAD_ - 1) / ITEMS_PER_THREAD_;
#pragma unroll
        for (int k = threadIdx.x; k < ITEMS_PER_TILE_; k += THREADS_)
            if (k < count) tile[k] = input[first + k];
        __syncthreads();
        scan_type inclusive = tile[thread_first < count ? thread_first : 0];
#pragma unroll
        for (int k = 1; k < ITEMS_PER_THREAD_; k++)
            if (thread_first + k < count) inclusive = combine_(inclusive, tile[thread_first + k]);
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const scan_type before = _shuffle_up(inclusive, distance);
            if (lane >= distance) inclusive = combine_(before, inclusive);
        }
        const scan_type before = _shuffle_up(inclusive, 1);
        const int last_of_warp = warp * 32 + 31;
        if (threadIdx.x == (last_of_warp < active_threads ? last_of_warp : active_threads - 1))
            warp_totals[warp] = inclusive;
        __syncthreads();
        scan_type prefix = carry;
        bool has_prefix = has_carry;
        for (int w = 0; w * 32 < active_threads; w++) {
            if (w == warp) prefix = carry, has_prefix = has_carry;
            carry = has_carry ? combine_(carry, warp_totals[w]) : warp_totals[w];
            has_carry = true;
        }
        if (writes) {
            if (lane) prefix = has_prefix ? combine_(prefix, before) : before, has_prefix = true;
#pragma unroll
            for (int k = 0; k < ITEMS_PER_THREAD_; k++) {
                if (thread_first + k >= count) break;
                const scan_type value = tile[thread_first + k];
                const scan_type next = has_prefix ? combine_(prefix, value) : value;
                tile[thread_first + k] = EXCLUSIVE_ ? prefix : next;
                prefix = next;
                has_prefix = true;
            }
            __syncthreads();
#pragma unroll
            for (int k = threadIdx.x; k < ITEMS_PER_TILE_; k += THREADS_)
                if (k < count) output[first + k] = tile[k];
        }
    }
    __syncthreads();
    return carry;
}

extern "C" __global__ void ${name}_totals(
    const scan_type *input, long n, long piece, scan_type *totals)
{
    DECLARE_SHARED_TILE_;
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    const scan_type total = scan_range_<false>(input, 0, first, end, input[first], false, tile);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

extern "C" __global__ void ${name}_update(
    const scan_type *input, long n, long piece, const scan_type *totals, scan_type *output)
{
    DECLARE_SHARED_TILE_;
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type carry = ${neutral};
    if (blockIdx.x) {
        const scan_type before =
            scan_range_<false>(totals, 0, 0, blockIdx.x, totals[0], false, tile);
        carry = EXCLUSIVE_ ? combine_(carry, before) : before;
    }
    scan_range_<true>(input, output, first, end, carry, EXCLUSIVE_ || blockIdx.x, tile);
}
