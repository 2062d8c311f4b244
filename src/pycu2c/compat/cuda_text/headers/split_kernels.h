/* Support for kernels that are split at barriers (fission/): the function of such a kernel runs a block,
 * with loops over the threads between barriers. */

namespace pycu2c {

enum { MAX_THREADS = 1024, MAX_CONTEXT_BYTES = 64 << 10 /* bytes, on a stack that may be of 2 MiB */ };

template <class T> static inline void store_context(T &element, const T &value) {
    memcpy(static_cast<void *>(&element), &value, sizeof(T));
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

/* Return whether in each warp all live threads or none take a divergent branch that contains a
 * barrier. Otherwise these threads would wait forever: report them, and end the launch. */
static inline bool check_whole_warps(const unsigned char *taking_branch, const unsigned char *live, int line) {
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned first = 0; first < threads; first += 32) {
        unsigned end = first + 32 < threads ? first + 32 : threads, taking = 0, running = 0;
        for (unsigned i = first; i < end; i++) taking += taking_branch[i], running += live ? live[i] : 1;
        if (taking && taking != running) {
            int64_t block = blockIdx.x + (int64_t)gridDim.x * (blockIdx.y + (int64_t)gridDim.y * blockIdx.z);
            services().report_stuck_lanes(block, taking_branch, (int32_t)first, (int32_t)end, line);
            return false;
        }
    }
    return true;
}

/* A collective call: the operands of all threads, and then the results of those that have not returned. */
template <class T> struct Collective {
    T results[MAX_THREADS], operands[MAX_THREADS];
    unsigned sources_or_conditions[MAX_THREADS]; /* the source thread of a shuffle, or the condition of a vote */

    void contribute(unsigned thread, T value) { operands[thread] = value; }
    void contribute_condition(unsigned thread, bool condition) { sources_or_conditions[thread] = condition; }
    void contribute_with_source(unsigned thread, T value, int source) {
        operands[thread] = value;
        sources_or_conditions[thread] = (unsigned)source;
    }

    static unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static bool is_live(const unsigned char *live, unsigned thread) { return !live || live[thread]; }

    void exchange(const unsigned char *live) {
        const unsigned count = threads();
        for (unsigned i = 0; i < count; i++) {
            unsigned source = sources_or_conditions[i] < count ? sources_or_conditions[i] : i;
            results[i] = operands[is_live(live, source) ? source : i];
        }
    }

    template <class Op> void reduce(const unsigned char *live, Op op) {
        for (unsigned first = 0; first < threads(); first += 32) {
            unsigned end = first + 32 < threads() ? first + 32 : threads(), first_live = first;
            while (first_live < end && !is_live(live, first_live)) first_live++;
            if (first_live == end) continue;
            T total = operands[first_live];
            for (unsigned i = first_live + 1; i < end; i++)
                if (is_live(live, i)) total = op(total, operands[i]);
            for (unsigned i = first; i < end; i++) results[i] = total;
        }
    }

    /* Both take the result as a function of the mask of the lanes, or of the number of the threads, for
     * which the condition holds. */
    template <class F> void ballot(const unsigned char *live, F result) {
        for (unsigned first = 0; first < threads(); first += 32) {
            unsigned end = first + 32 < threads() ? first + 32 : threads(), lanes = 0;
            for (unsigned i = first; i < end; i++) lanes |= (is_live(live, i) & sources_or_conditions[i]) << i % 32;
            for (unsigned i = first; i < end; i++) results[i] = (T)result(lanes);
        }
    }
    template <class F> void count(const unsigned char *live, F result) {
        unsigned count = 0;
        for (unsigned i = 0; i < threads(); i++) count += is_live(live, i) & sources_or_conditions[i];
        for (unsigned i = 0; i < threads(); i++) results[i] = (T)result(count);
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
    unsigned char pycu2c_live[::pycu2c::MAX_THREADS];                                               \
    memset(pycu2c_live, 1, sizeof pycu2c_live);

/* The threads that take a divergent branch. */
#define PYCU2C_ACTIVE_MASK(name)                                                                    \
    unsigned char name[::pycu2c::MAX_THREADS];                                                      \
    memset(name, 0, sizeof name);

#define PYCU2C_CHECK_WHOLE_WARPS(name, line)                                                        \
    if (!::pycu2c::check_whole_warps(name, pycu2c_live, line)) return;
#define PYCU2C_UNIFORM(name, value) const ::pycu2c::Uniform<const decltype(value)> name = value

/* One element of a variable per thread. */
#define PYCU2C_CONTEXT_ARRAY(name, ...)                                                             \
    __VA_ARGS__;                                                                                    \
    static_assert(sizeof name <= ::pycu2c::MAX_CONTEXT_BYTES, "the context arrays of the kernel are too large"); \
    static_assert(std::is_trivially_copyable<typename std::remove_all_extents<decltype(name)>::type>::value, \
                  "context arrays need trivially copyable types")

#define PYCU2C_THREADS                                                                              \
    for (unsigned pycu2c_z = 0; pycu2c_z < blockDim.z; pycu2c_z++)                                  \
        for (unsigned pycu2c_y = 0; pycu2c_y < blockDim.y; pycu2c_y++)                              \
            for (unsigned pycu2c_x = 0; pycu2c_x < blockDim.x; pycu2c_x++) {                        \
                const uint3 threadIdx = {pycu2c_x, pycu2c_y, pycu2c_z};                             \
                const unsigned pycu2c_thread =                                                      \
                    pycu2c_x + blockDim.x * (pycu2c_y + blockDim.y * pycu2c_z);

/* Declares the results of a call. Its type is that of the call in the first thread, not evaluated. */
#define PYCU2C_COLLECTIVE(name, ...)                                                                \
    ::pycu2c::Collective<typename std::decay<decltype(__VA_ARGS__)>::type> name
#define PYCU2C_FIRST_THREAD                                                                         \
    const uint3 threadIdx = {0, 0, 0};                                                              \
    const unsigned pycu2c_thread = 0;
