/* Barriers, warp collectives, __trap and assert. */

namespace pycu2c {

enum { COUNT, ALL, ANY };

static inline int sync_block(int kind, int value, int line) {
    const uint3 me = threadIdx;
    int result = services().sync_block(kind, value, line);
    threadIdx = me;
    return result;
}

typedef void (*Combine)(void **given, uint32_t lanes);

static inline void sync_warp(unsigned mask, void *given, Combine combine, int line) {
    const uint3 me = threadIdx;
    services().sync_warp(mask, given, combine, line);
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

/* The operand and the result of a lane in a warp collective. */
template <class T> struct Given {
    T in, out;
    uint32_t lane; /* the source lane, or the result */
    bool flag;
};

template <class T> static void shuffle(void **given, uint32_t lanes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Given<T> *mine = static_cast<Given<T> *>(given[__builtin_ctz(rest)]);
        bool there = lanes >> mine->lane & 1;
        mine->out = there ? static_cast<Given<T> *>(given[mine->lane])->in : mine->in;
    }
}

template <class T> static inline T shuffled(unsigned mask, T value, unsigned lane, int line) {
    static_assert(sizeof(T) <= 16, "shuffles exchange values of at most 16 bytes");
    Given<T> given = {value, value, lane, false};
    sync_warp(mask, &given, shuffle<T>, line);
    return given.out;
}

struct Vote {
    uint32_t ballot;
    bool flag;
};

static inline void count_votes(void **given, uint32_t lanes) {
    uint32_t ballot = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (static_cast<Vote *>(given[__builtin_ctz(rest)])->flag) ballot |= rest & -rest;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        static_cast<Vote *>(given[__builtin_ctz(rest)])->ballot = ballot;
}

struct Votes {
    uint32_t yes, lanes;
};

static inline void all_votes(void **given, uint32_t lanes) {
    count_votes(given, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Vote *vote = static_cast<Vote *>(given[__builtin_ctz(rest)]);
        vote->flag = vote->ballot == lanes;
    }
}

template <class T> static void match_any(void **given, uint32_t lanes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Given<T> *mine = static_cast<Given<T> *>(given[__builtin_ctz(rest)]);
        mine->lane = 0;
        for (uint32_t others = lanes; others; others &= others - 1) {
            const Given<T> *other = static_cast<Given<T> *>(given[__builtin_ctz(others)]);
            if (!memcmp(&other->in, &mine->in, sizeof(T))) mine->lane |= others & -others;
        }
    }
}

template <class T, class Op> static void reduce(void **given, uint32_t lanes) {
    T all = static_cast<Given<T> *>(given[__builtin_ctz(lanes)])->in;
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        all = Op()(all, static_cast<Given<T> *>(given[__builtin_ctz(rest)])->in);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        static_cast<Given<T> *>(given[__builtin_ctz(rest)])->out = all;
}

template <class Op, class T> static inline T reduced(unsigned mask, T value, int line) {
    Given<T> given = {value, value, 0, false};
    sync_warp(mask, &given, reduce<T, Op>, line);
    return given.out;
}

struct Add { template <class T> T operator()(T a, T b) const { return a + b; } };
struct Least { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
struct Greatest { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct And { template <class T> T operator()(T a, T b) const { return a & b; } };
struct Or { template <class T> T operator()(T a, T b) const { return a | b; } };
struct Xor { template <class T> T operator()(T a, T b) const { return a ^ b; } };

/* The source lane of a shuffle in a segment of a warp. */
static inline unsigned lane_at(int source, int width) {
    return (lane() & ~(unsigned)(width - 1)) + ((unsigned)source & (unsigned)(width - 1));
}
static inline unsigned lane_up(unsigned delta, int width) {
    unsigned me = lane(), place = me & (unsigned)(width - 1);
    return place < delta ? me : me - delta;
}
static inline unsigned lane_down(unsigned delta, int width) {
    unsigned me = lane(), place = me & (unsigned)(width - 1);
    return place + delta >= (unsigned)width ? me : me + delta;
}
static inline unsigned lane_xor(int mask, int width) {
    unsigned me = lane(), other = me ^ (unsigned)mask;
    return other >= (me & ~(unsigned)(width - 1)) + (unsigned)width ? me : other;
}

} // namespace pycu2c

#define PYCU2C_HERE int line = __builtin_LINE()

static inline void __syncthreads(PYCU2C_HERE) { pycu2c::sync_block(pycu2c::COUNT, 0, line); }
static inline int __syncthreads_count(int p, PYCU2C_HERE) { return pycu2c::sync_block(pycu2c::COUNT, p, line); }
static inline int __syncthreads_and(int p, PYCU2C_HERE) { return pycu2c::sync_block(pycu2c::ALL, p, line); }
static inline int __syncthreads_or(int p, PYCU2C_HERE) { return pycu2c::sync_block(pycu2c::ANY, p, line); }
static inline void __syncwarp(unsigned mask = 0xffffffffu, PYCU2C_HERE) {
    pycu2c::sync_warp(mask, nullptr, nullptr, line);
}
static inline void __barrier_sync(unsigned, PYCU2C_HERE) { pycu2c::sync_block(pycu2c::COUNT, 0, line); }

template <class T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, PYCU2C_HERE) {
    return pycu2c::shuffled(mask, value, pycu2c::lane_at(source, width), line);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, PYCU2C_HERE) {
    return pycu2c::shuffled(mask, value, pycu2c::lane_up(delta, width), line);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, PYCU2C_HERE) {
    return pycu2c::shuffled(mask, value, pycu2c::lane_down(delta, width), line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, PYCU2C_HERE) {
    return pycu2c::shuffled(mask, value, pycu2c::lane_xor(lanes, width), line);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate, PYCU2C_HERE) {
    pycu2c::Vote vote = {0, predicate != 0};
    pycu2c::sync_warp(mask, &vote, pycu2c::count_votes, line);
    return vote.ballot;
}
static inline int __any_sync(unsigned mask, int predicate, PYCU2C_HERE) {
    return __ballot_sync(mask, predicate, line) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, PYCU2C_HERE) {
    pycu2c::Vote vote = {0, predicate != 0};
    pycu2c::sync_warp(mask, &vote, pycu2c::all_votes, line);
    return vote.flag;
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T value, PYCU2C_HERE) {
    pycu2c::Given<T> given = {value, value, 0, false};
    pycu2c::sync_warp(mask, &given, pycu2c::match_any<T>, line);
    return given.lane;
}
template <class T>
static inline unsigned __match_all_sync(unsigned mask, T value, int *all, PYCU2C_HERE) {
    unsigned same = __match_any_sync(mask, value, line);
    unsigned lanes = __ballot_sync(mask, 1, line);
    *all = same == lanes;
    return *all ? mask : 0;
}
static inline unsigned __activemask(PYCU2C_HERE) {
    return pycu2c::active_lanes(line);
}

#define PYCU2C_REDUCE(name, op, type)                                                               \
    static inline type __reduce_##name##_sync(unsigned mask, type value, PYCU2C_HERE) {             \
        return pycu2c::reduced<pycu2c::op>(mask, value, line);                                      \
    }
PYCU2C_REDUCE(add, Add, unsigned)
PYCU2C_REDUCE(add, Add, int)
PYCU2C_REDUCE(min, Least, unsigned)
PYCU2C_REDUCE(min, Least, int)
PYCU2C_REDUCE(max, Greatest, unsigned)
PYCU2C_REDUCE(max, Greatest, int)
PYCU2C_REDUCE(and, And, unsigned)
PYCU2C_REDUCE(or, Or, unsigned)
PYCU2C_REDUCE(xor, Xor, unsigned)
#undef PYCU2C_REDUCE

/* ---- launch failures ---- */

static inline void __trap() { pycu2c::services().fail(67); }
static inline void __brkpt() {}
static inline void __nanosleep(unsigned) { pycu2c::yield(); }

namespace pycu2c {
static inline void failed(const char *what, const char *file, int line, const char *function) {
    fprintf(stderr, "%s:%d: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
            line, function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z,
            what);
    services().fail(66);
}
} // namespace pycu2c

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition)                                                                           \
    ((condition) ? (void)0 : ::pycu2c::failed(#condition, __FILE__, __LINE__, __func__))
#endif
