/* Kernels that are split where their threads meet (splitting.py): a function of such a kernel runs a
 * block, and loops over its threads between those places. */

namespace pycu2c {

enum { MOST_THREADS = 1024, MOST_KEPT = 256 << 10 /* bytes, on a stack of which other things need some */ };

template <class T> static inline void keep(T &place, const T &value) {
    memcpy(static_cast<void *>(&place), &value, sizeof(T));
}

static inline bool any_lives(const unsigned char *live) {
    unsigned threads = blockDim.x * blockDim.y * blockDim.z, count = 0;
    for (unsigned i = 0; i < threads; i++) count |= live[i];
    return count != 0;
}

} // namespace pycu2c

/* What does not change in a block is a constant of the function. */
#define PYCU2C_BLOCK                                                                                \
    const uint3 pycu2c_block = ::blockIdx;                                                          \
    const dim3 pycu2c_size = ::blockDim, pycu2c_grid = ::gridDim;                                   \
    const uint3 blockIdx = pycu2c_block;                                                            \
    const dim3 blockDim = pycu2c_size, gridDim = pycu2c_grid;

/* The threads that have not returned. */
#define PYCU2C_LIVE                                                                                 \
    unsigned char pycu2c_live[::pycu2c::MOST_THREADS];                                              \
    memset(pycu2c_live, 1, sizeof pycu2c_live);

/* What threads have of a variable. */
#define PYCU2C_KEPT(name, ...)                                                                      \
    __VA_ARGS__;                                                                                    \
    static_assert(sizeof name <= ::pycu2c::MOST_KEPT, "threads keep too much")

#define PYCU2C_THREADS                                                                              \
    for (unsigned pycu2c_z = 0; pycu2c_z < blockDim.z; pycu2c_z++)                                  \
        for (unsigned pycu2c_y = 0; pycu2c_y < blockDim.y; pycu2c_y++)                              \
            for (unsigned pycu2c_x = 0; pycu2c_x < blockDim.x; pycu2c_x++) {                        \
                const uint3 threadIdx = {pycu2c_x, pycu2c_y, pycu2c_z};                             \
                const unsigned pycu2c_me =                                                          \
                    pycu2c_x + blockDim.x * (pycu2c_y + blockDim.y * pycu2c_z);
