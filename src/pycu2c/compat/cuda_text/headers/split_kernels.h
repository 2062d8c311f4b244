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
