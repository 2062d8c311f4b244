/* Support for kernels that are split at barriers (fission/): the function of such a kernel runs a block,
 * with loops over the threads between barriers. */

namespace pycu2c {

enum { MOST_THREADS = 1024, MAX_CONTEXT_BYTES = 64 << 10 /* bytes, on a stack that may be of 2 MiB */ };

enum Count { BALLOT, NUMBER, ONE, EACH }; /* reductions of a vote */

template <class T> static inline void store_context(T &place, const T &value) {
    memcpy(static_cast<void *>(&place), &value, sizeof(T));
}

/* The type of a uniform value: a constant, or a reference to the only object of a class. */
template <class T>
using Uniform = typename std::conditional<std::is_scalar<typename std::decay<T>::type>::value,
                                        typename std::decay<T>::type, T &>::type;

static inline bool any_live(const unsigned char *live) {
    unsigned threads = blockDim.x * blockDim.y * blockDim.z, count = 0;
    for (unsigned i = 0; i < threads; i++) count |= live[i];
    return count != 0;
}

static inline bool all_live(const unsigned char *live) {
    unsigned threads = blockDim.x * blockDim.y * blockDim.z, count = 0;
    for (unsigned i = 0; i < threads; i++) count += live[i];
    return count == threads;
}

/* Whether each warp takes a divergent branch that contains a barrier as a whole. Otherwise its threads
 * would wait forever, and the launch fails. */
static inline bool whole_warps(const unsigned char *some, const unsigned char *live, int line) {
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned first = 0; first < threads; first += 32) {
        unsigned end = first + 32 < threads ? first + 32 : threads, come = 0, there = 0;
        for (unsigned i = first; i < end; i++) come += some[i], there += live ? live[i] : 1;
        if (come && come != there) {
            int64_t block = blockIdx.x + (int64_t)gridDim.x * (blockIdx.y + (int64_t)gridDim.y * blockIdx.z);
            services().stuck(block, some, (int32_t)first, (int32_t)end, line);
            return false;
        }
    }
    return true;
}

/* A collective call: the operands of all threads, and then the results of those that have not returned. */
template <class T> struct Collective {
    T results[MOST_THREADS], given[MOST_THREADS];
    unsigned other[MOST_THREADS]; /* the source lane, or the predicate of a vote */

    void deposit(unsigned me, T v) { given[me] = v; }
    void vote(unsigned me, int p) { other[me] = p != 0; }
    void ask(unsigned me, T v, unsigned whose) {
        given[me] = v;
        other[me] = whose;
    }
    void at(unsigned me, T v, int source, int width = 32) {
        unsigned inside = (unsigned)width - 1;
        ask(me, v, (me & ~inside) + ((unsigned)source & inside));
    }
    void up(unsigned me, T v, unsigned delta, int width = 32) {
        ask(me, v, (me & ((unsigned)width - 1)) < delta ? me : me - delta);
    }
    void down(unsigned me, T v, unsigned delta, int width = 32) {
        ask(me, v, (me & ((unsigned)width - 1)) + delta >= (unsigned)width ? me : me + delta);
    }
    void by_xor(unsigned me, T v, int lanes, int width = 32) {
        unsigned selected = me % 32 ^ (unsigned)lanes;
        bool within = selected < (me % 32 & ~((unsigned)width - 1)) + (unsigned)width;
        ask(me, v, within ? me - me % 32 + selected : me);
    }

    static unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static bool is_there(const unsigned char *live, unsigned thread) { return !live || live[thread]; }

    void exchange(const unsigned char *live) {
        const unsigned count = threads();
        for (unsigned i = 0; i < count; i++) {
            unsigned selected = other[i] < count ? other[i] : i;
            results[i] = given[is_there(live, selected) ? selected : i];
        }
    }

    template <class Op> void reduce(const unsigned char *live, Op op) {
        for (unsigned first = 0; first < threads(); first += 32) {
            unsigned end = first + 32 < threads() ? first + 32 : threads(), one = first;
            while (one < end && !is_there(live, one)) one++;
            if (one == end) continue;
            T all = given[one];
            for (unsigned i = one + 1; i < end; i++)
                if (is_there(live, i)) all = op(all, given[i]);
            for (unsigned i = first; i < end; i++) results[i] = all;
        }
    }

    void count(const unsigned char *live, unsigned together, Count selected) {
        for (unsigned first = 0; first < threads(); first += together) {
            unsigned end = first + together < threads() ? first + together : threads();
            unsigned yes = 0, there = 0, ballot = 0;
            for (unsigned i = first; i < end; i++) {
                unsigned is = is_there(live, i), says = is & other[i];
                there += is, yes += says, ballot |= says << i % 32;
            }
            unsigned found = selected == BALLOT   ? ballot
                             : selected == NUMBER ? yes
                             : selected == ONE    ? yes != 0
                                                : yes == there;
            for (unsigned i = first; i < end; i++) results[i] = (T)found;
        }
    }
};

} // namespace pycu2c

/* Block-level indices are constants of the function. */
#define PYCU2C_BLOCK                                                                                \
    const uint3 pycu2c_block = ::blockIdx;                                                          \
    const dim3 pycu2c_size = ::blockDim, pycu2c_grid = ::gridDim;                                   \
    const uint3 blockIdx = pycu2c_block;                                                            \
    const dim3 blockDim = pycu2c_size, gridDim = pycu2c_grid;

/* The threads that have not returned. */
#define PYCU2C_LIVE                                                                                 \
    unsigned char pycu2c_live[::pycu2c::MOST_THREADS];                                              \
    memset(pycu2c_live, 1, sizeof pycu2c_live);

/* The threads that take a divergent branch. */
#define PYCU2C_ACTIVE_MASK(name)                                                                           \
    unsigned char name[::pycu2c::MOST_THREADS];                                                     \
    memset(name, 0, sizeof name);

#define PYCU2C_WHOLE_WARPS(name, line)                                                              \
    if (!::pycu2c::whole_warps(name, pycu2c_live, line)) return;
#define PYCU2C_UNIFORM(name, value) const ::pycu2c::Uniform<const decltype(value)> name = value

/* One element of a variable per thread. */
#define PYCU2C_CONTEXT_ARRAY(name, ...)                                                                      \
    __VA_ARGS__;                                                                                    \
    static_assert(sizeof name <= ::pycu2c::MAX_CONTEXT_BYTES, "the context arrays of the kernel are too large");                      \
    static_assert(std::is_trivially_copyable<typename std::remove_all_extents<decltype(name)>::type>::value, \
                  "context arrays need trivially copyable types")

#define PYCU2C_THREADS                                                                              \
    for (unsigned pycu2c_z = 0; pycu2c_z < blockDim.z; pycu2c_z++)                                  \
        for (unsigned pycu2c_y = 0; pycu2c_y < blockDim.y; pycu2c_y++)                              \
            for (unsigned pycu2c_x = 0; pycu2c_x < blockDim.x; pycu2c_x++) {                        \
                const uint3 threadIdx = {pycu2c_x, pycu2c_y, pycu2c_z};                             \
                const unsigned pycu2c_me =                                                          \
                    pycu2c_x + blockDim.x * (pycu2c_y + blockDim.y * pycu2c_z);

/* Declares the results of a call. Its type is that of the call in the first thread, not evaluated. */
#define PYCU2C_COLLECTIVE(name, ...)                                                                       \
    ::pycu2c::Collective<typename std::decay<decltype(__VA_ARGS__)>::type> name
#define PYCU2C_FIRST_THREAD                                                                         \
    const uint3 threadIdx = {0, 0, 0};                                                              \
    const unsigned pycu2c_me = 0;
