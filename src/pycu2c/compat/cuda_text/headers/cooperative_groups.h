/* cooperative_groups: blocks, tiles, warps and grids. */

namespace cooperative_groups {

struct thread_block {
    static void sync(PYCU2C_LINE_PARAMETER) { pycu2c::sync_block(0, line); }
    static unsigned thread_rank() { return pycu2c::thread_rank(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
};
static inline thread_block this_thread_block() { return {}; }

struct grid_group {
    static void sync(PYCU2C_LINE_PARAMETER) { pycu2c::sync_grid(line); }
    static bool is_valid() { return true; }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
    static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
};
static inline grid_group this_grid() { return {}; }

template <unsigned Size, class Parent = void> struct thread_block_tile {
    static_assert(Size && !(Size & (Size - 1)) && Size <= 32, "a tile has 1, 2, 4, 8, 16 or 32 lanes");
    thread_block_tile() = default;
    template <class Other> thread_block_tile(const thread_block_tile<Size, Other> &) {}
    static unsigned first() { return pycu2c::lane() & ~(Size - 1); }
    static unsigned mask() { return (Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1) << first(); }
    static unsigned thread_rank() { return pycu2c::lane() & (Size - 1); }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned meta_group_rank() { return pycu2c::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
    static void sync(PYCU2C_LINE_PARAMETER) { __syncwarp(mask(), line); }
    template <class T> static T shfl(T v, int source, PYCU2C_LINE_PARAMETER) { return __shfl_sync(mask(), v, source, Size, line); }
    template <class T> static T shfl_up(T v, unsigned d, PYCU2C_LINE_PARAMETER) { return __shfl_up_sync(mask(), v, d, Size, line); }
    template <class T> static T shfl_down(T v, unsigned d, PYCU2C_LINE_PARAMETER) { return __shfl_down_sync(mask(), v, d, Size, line); }
    template <class T> static T shfl_xor(T v, int m, PYCU2C_LINE_PARAMETER) { return __shfl_xor_sync(mask(), v, m, Size, line); }
    static int any(int p, PYCU2C_LINE_PARAMETER) { return __any_sync(mask(), p, line); }
    static int all(int p, PYCU2C_LINE_PARAMETER) { return __all_sync(mask(), p, line); }
    static unsigned ballot(int p, PYCU2C_LINE_PARAMETER) { return (__ballot_sync(mask(), p, line) & mask()) >> first(); }
    template <class T> static unsigned match_any(T v, PYCU2C_LINE_PARAMETER) { return __match_any_sync(mask(), v, line) >> first(); }
};
template <unsigned Size, class Parent> static inline thread_block_tile<Size, Parent> tiled_partition(const Parent &) { return {}; }

struct coalesced_group {
    unsigned lanes;
    unsigned size() const { return (unsigned)__builtin_popcount(lanes); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return (unsigned)__builtin_popcount(lanes & (pycu2c::bit_of_lane() - 1)); }
    void sync(PYCU2C_LINE_PARAMETER) const { __syncwarp(lanes, line); }
    unsigned lane_of(unsigned rank) const {
        unsigned rest = lanes;
        while (rank-- && rest) rest &= rest - 1;
        return rest ? (unsigned)__builtin_ctz(rest) : pycu2c::lane();
    }
    template <class T> T shfl(T v, int source, PYCU2C_LINE_PARAMETER) const { return __shfl_sync(lanes, v, (int)lane_of((unsigned)source), 32, line); }
    template <class T> T shfl_down(T v, unsigned d, PYCU2C_LINE_PARAMETER) const { unsigned to = thread_rank() + d; return __shfl_sync(lanes, v, to < size() ? (int)lane_of(to) : (int)pycu2c::lane(), 32, line); }
    template <class T> T shfl_up(T v, unsigned d, PYCU2C_LINE_PARAMETER) const { unsigned me = thread_rank(); return __shfl_sync(lanes, v, me >= d ? (int)lane_of(me - d) : (int)pycu2c::lane(), 32, line); }
    int any(int p, PYCU2C_LINE_PARAMETER) const { return __any_sync(lanes, p, line); }
    int all(int p, PYCU2C_LINE_PARAMETER) const { return __all_sync(lanes, p, line); }
};
static inline coalesced_group coalesced_threads(PYCU2C_LINE_PARAMETER) { return {__activemask(line)}; }

template <class G> static inline void sync(const G &group, PYCU2C_LINE_PARAMETER) { group.sync(line); }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { T operator()(T a, T b) const { return a ^ b; } };

template <unsigned S, class P, class T, class Op>
static inline T reduce(const thread_block_tile<S, P> &tile, T value, Op op, PYCU2C_LINE_PARAMETER) {
    return pycu2c::reduce(tile.mask(), value, op, line);
}

} // namespace cooperative_groups
