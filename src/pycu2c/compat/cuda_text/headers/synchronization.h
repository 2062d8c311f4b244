/* Barriers, the waits of warp operations, __trap and assert. */

namespace pycu2c {

/* A barrier of the block; returns the number of threads whose condition holds. */
static inline int sync_block(bool condition, int line) {
    const uint3 me = threadIdx;
    int result = services().sync_block(condition, line);
    threadIdx = me;
    return result;
}

typedef void (*Combine)(void **operands, uint32_t lanes);

static inline void sync_warp(unsigned mask, void *operand, Combine combine, int line) {
    const uint3 me = threadIdx;
    services().sync_warp(mask, operand, combine, line);
    threadIdx = me;
}

static inline unsigned active_lanes(int line) {
    const uint3 me = threadIdx;
    unsigned lanes = services().active_lanes(line);
    threadIdx = me;
    return lanes;
}

static inline void sync_grid(int line) {
    const uint3 me = threadIdx;
    services().sync_grid(line);
    threadIdx = me;
}

static inline void yield() {
    const uint3 me = threadIdx;
    services().yield();
    threadIdx = me;
}

static inline unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

static inline unsigned lane() { return thread_rank() % 32; }

static inline uint32_t bit_of_lane() { return UINT32_C(1) << lane(); }

/* The waits that CUDA's functions consist of. The last lane to arrive combines the operands of the lanes of
 * the mask. */

static inline unsigned count(bool condition, int line) { return (unsigned)sync_block(condition, line); }

struct Vote {
    bool holds;
    uint32_t ballot;
};

static inline void collect_votes(void **operands, uint32_t lanes) {
    uint32_t ballot = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (static_cast<Vote *>(operands[__builtin_ctz(rest)])->holds) ballot |= rest & -rest;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        static_cast<Vote *>(operands[__builtin_ctz(rest)])->ballot = ballot;
}

static inline unsigned ballot(unsigned mask, bool condition, int line) {
    Vote vote = {condition, 0};
    sync_warp(mask, &vote, collect_votes, line);
    return vote.ballot;
}

template <class T> struct Shuffle {
    T sent, received;
    uint32_t source; /* a lane */
};

template <class T> static void exchange_values(void **operands, uint32_t lanes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Shuffle<T> *own = static_cast<Shuffle<T> *>(operands[__builtin_ctz(rest)]);
        bool is_active = lanes >> own->source & 1;
        own->received = is_active ? static_cast<Shuffle<T> *>(operands[own->source])->sent : own->sent;
    }
}

/* The value of the thread with the rank source; of the thread itself if that is not active. */
template <class T> static inline T shuffle(unsigned mask, T value, int source, int line) {
    static_assert(sizeof(T) <= 16, "shuffles exchange values of at most 16 bytes");
    Shuffle<T> operand = {value, value, (uint32_t)source % 32};
    sync_warp(mask, &operand, exchange_values<T>, line);
    return operand.received;
}

template <class T> struct Match {
    T value;
    uint32_t lanes;
};

template <class T> static void compare_values(void **operands, uint32_t lanes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Match<T> *own = static_cast<Match<T> *>(operands[__builtin_ctz(rest)]);
        own->lanes = 0;
        for (uint32_t others = lanes; others; others &= others - 1) {
            const Match<T> *other = static_cast<Match<T> *>(operands[__builtin_ctz(others)]);
            if (!memcmp(&other->value, &own->value, sizeof(T))) own->lanes |= others & -others;
        }
    }
}

template <class T> static inline unsigned matching_lanes(unsigned mask, T value, int line) {
    Match<T> operand = {value, 0};
    sync_warp(mask, &operand, compare_values<T>, line);
    return operand.lanes;
}

template <class T, class Op> struct Reduction {
    T value;
    const Op *op;
};

template <class T, class Op> static void combine_values(void **operands, uint32_t lanes) {
    typedef Reduction<T, Op> R;
    const R *first = static_cast<R *>(operands[__builtin_ctz(lanes)]);
    T total = first->value;
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        total = (*first->op)(total, static_cast<R *>(operands[__builtin_ctz(rest)])->value);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        static_cast<R *>(operands[__builtin_ctz(rest)])->value = total;
}

template <class T, class Op> static inline T reduce(unsigned mask, T value, const Op &op, int line) {
    Reduction<T, Op> operand = {value, &op};
    sync_warp(mask, &operand, combine_values<T, Op>, line);
    return operand.value;
}

} // namespace pycu2c

#define PYCU2C_LINE_PARAMETER int line = __builtin_LINE()

static inline void __syncthreads(PYCU2C_LINE_PARAMETER) { pycu2c::sync_block(0, line); }
static inline void __barrier_sync(unsigned, PYCU2C_LINE_PARAMETER) { pycu2c::sync_block(0, line); }
static inline void __syncwarp(unsigned mask = 0xffffffffu, PYCU2C_LINE_PARAMETER) {
    pycu2c::sync_warp(mask, nullptr, nullptr, line);
}
template <class T>
static inline unsigned __match_all_sync(unsigned mask, T value, int *all, PYCU2C_LINE_PARAMETER) {
    unsigned same = pycu2c::matching_lanes(mask, value, line);
    *all = same == pycu2c::ballot(mask, true, line);
    return *all ? mask : 0;
}

/* ---- votes, shuffles and reductions ---- */

static inline int __syncthreads_count(int holds, PYCU2C_LINE_PARAMETER) { return (int)pycu2c::count(holds, line); }
static inline int __syncthreads_and(int holds, PYCU2C_LINE_PARAMETER) { return pycu2c::count(!holds, line) == 0; }
static inline int __syncthreads_or(int holds, PYCU2C_LINE_PARAMETER) { return pycu2c::count(holds, line) != 0; }
static inline unsigned __activemask(PYCU2C_LINE_PARAMETER) { return pycu2c::active_lanes(line); }

#define PYCU2C_VOTE(result, name, value)                                                            \
    static inline result name(unsigned mask, int holds, PYCU2C_LINE_PARAMETER) { return value; }
PYCU2C_VOTE(unsigned, __ballot_sync, pycu2c::ballot(mask, holds, line))
PYCU2C_VOTE(int, __any_sync, pycu2c::ballot(mask, holds, line) != 0)
PYCU2C_VOTE(int, __all_sync, pycu2c::ballot(mask, !holds, line) == 0)
#undef PYCU2C_VOTE
static inline int __uni_sync(unsigned mask, int holds, PYCU2C_LINE_PARAMETER) {
    const unsigned some = pycu2c::ballot(mask, holds, line);
    return pycu2c::ballot(mask, !holds, line) == 0 || some == 0;
}

/* The source may be another thread than this only if it is in the group of ``width`` lanes. */
#define PYCU2C_SHUFFLE(name, is_in_group, source)                                                   \
    template <class T>                                                                              \
    static inline T name(unsigned mask, T value, int n, int width = 32, PYCU2C_LINE_PARAMETER) {    \
        const int thread = (int)pycu2c::thread_rank();                                              \
        return pycu2c::shuffle(mask, value, is_in_group ? source : thread, line);                   \
    }
PYCU2C_SHUFFLE(__shfl_sync, true, ((thread & (0 - width)) | (n & (width - 1))))
PYCU2C_SHUFFLE(__shfl_up_sync, (thread & (width - 1)) >= (n & 31), thread - (n & 31))
PYCU2C_SHUFFLE(__shfl_down_sync, (thread & (width - 1)) + (n & 31) < width, thread + (n & 31))
PYCU2C_SHUFFLE(__shfl_xor_sync, (thread | (width - 1)) >= (thread ^ (n & 31)), (thread ^ (n & 31)))
#undef PYCU2C_SHUFFLE

template <class T> static inline unsigned __match_any_sync(unsigned mask, T value, PYCU2C_LINE_PARAMETER) {
    return pycu2c::matching_lanes(mask, value, line);
}

#define PYCU2C_REDUCTION(T, name, combined)                                                         \
    static inline T __reduce_##name##_sync(unsigned mask, T value, PYCU2C_LINE_PARAMETER) {         \
        return pycu2c::reduce(mask, value, [](T a, T b) -> T { return combined; }, line);           \
    }
PYCU2C_REDUCTION(unsigned, add, a + b)
PYCU2C_REDUCTION(unsigned, min, b < a ? b : a)
PYCU2C_REDUCTION(unsigned, max, b > a ? b : a)
PYCU2C_REDUCTION(unsigned, and, a & b)
PYCU2C_REDUCTION(unsigned, or, a | b)
PYCU2C_REDUCTION(unsigned, xor, a ^ b)
PYCU2C_REDUCTION(int, add, (int)((unsigned)a + (unsigned)b))
PYCU2C_REDUCTION(int, min, b < a ? b : a)
PYCU2C_REDUCTION(int, max, b > a ? b : a)
#undef PYCU2C_REDUCTION

/* ---- launch failures ---- */

static inline void __trap() { pycu2c::services().fail(67); }
static inline void __brkpt() {}
static inline void __nanosleep(unsigned) { pycu2c::yield(); }

namespace pycu2c {
static inline void assertion_failed(const char *condition, const char *file, int line, const char *function) {
    fprintf(stderr, "%s:%d: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
            line, function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z,
            condition);
    services().fail(66);
}
} // namespace pycu2c

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                           \
    ((condition) ? (void)0 : ::pycu2c::assertion_failed(#condition, __FILE__, __LINE__, __func__))
#endif
