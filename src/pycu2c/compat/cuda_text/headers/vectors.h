/* CUDA's vectors: char1 to double4, dim3. */

#define PYCU2C_VECTORS(name, type, two, four)                                                     \
    struct name##1 { type x; };                                                                   \
    struct two name##2 { type x, y; };                                                            \
    struct name##3 { type x, y, z; };                                                             \
    struct four name##4 { type x, y, z, w; };                                                     \
    static inline name##1 make_##name##1(type x) { return {x}; }                                  \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                       \
    static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }            \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

PYCU2C_VECTORS(char, signed char, __align__(2), __align__(4))
PYCU2C_VECTORS(uchar, unsigned char, __align__(2), __align__(4))
PYCU2C_VECTORS(short, short, __align__(4), __align__(8))
PYCU2C_VECTORS(ushort, unsigned short, __align__(4), __align__(8))
PYCU2C_VECTORS(int, int, __align__(8), __align__(16))
PYCU2C_VECTORS(uint, unsigned int, __align__(8), __align__(16))
PYCU2C_VECTORS(long, long, __align__(16), __align__(16))
PYCU2C_VECTORS(ulong, unsigned long, __align__(16), __align__(16))
PYCU2C_VECTORS(longlong, long long, __align__(16), __align__(16))
PYCU2C_VECTORS(ulonglong, unsigned long long, __align__(16), __align__(16))
PYCU2C_VECTORS(float, float, __align__(8), __align__(16))
PYCU2C_VECTORS(double, double, __align__(16), __align__(16))

#undef PYCU2C_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local dim3 blockDim;
static thread_local dim3 gridDim;

namespace pycu2c {

/* The header of packed arguments: LAUNCH_HEADER in runtime/launch_configuration.py. */
struct LaunchHeader {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
};

static thread_local const char *arguments; /* of the launch, after the header */

#ifdef PYCU2C_DYNAMIC_SHARED
alignas(1024) static thread_local unsigned char dynamic_memory[PYCU2C_DYNAMIC_SHARED];
static inline void *dynamic() { return dynamic_memory; }
#endif

/* The first access of an OS thread to thread-local variables allocates them. clang does not know that
 * this may clobber AVX-512's upper registers, which hold loop constants. So each launch accesses them
 * before the loops, which are in a function of their own. */
__attribute__((noinline)) static void touch_thread_locals() { __asm__ volatile("" : : "r"(&threadIdx) : "memory"); }

static inline void begin_block(const void *packed, int64_t block) {
    const LaunchHeader *head = static_cast<const LaunchHeader *>(packed);
    arguments = static_cast<const char *>(packed) + sizeof(LaunchHeader);
    gridDim = dim3((unsigned)head->grid[0], (unsigned)head->grid[1], (unsigned)head->grid[2]);
    blockDim = dim3((unsigned)head->block[0], (unsigned)head->block[1], (unsigned)head->block[2]);
    int64_t row = block / head->grid[0];
    blockIdx.x = (unsigned)(block % head->grid[0]);
    blockIdx.y = (unsigned)(row % head->grid[1]);
    blockIdx.z = (unsigned)(row / head->grid[1]);
}

static inline void begin_thread(int32_t index) {
    unsigned i = (unsigned)index;
    if (i < blockDim.x) {
        threadIdx = {i, 0, 0};
        return;
    }
    unsigned row = i / blockDim.x;
    threadIdx = {i % blockDim.x, row % blockDim.y, row / blockDim.y};
}

/* ---- launch functions ---- */

constexpr size_t round_up(size_t n, size_t alignment) { return (n + alignment - 1) / alignment * alignment; }

/* The offsets of parameters in packed arguments. */
template <class... P> struct Layout {
    static constexpr size_t count = sizeof...(P);
    struct Offsets { size_t of[count + 1]; };
    static constexpr Offsets offsets() {
        constexpr size_t sizes[] = {sizeof(P)..., 0}, alignments[] = {alignof(P)..., 1};
        Offsets offsets = {};
        size_t end = 0;
        for (size_t i = 0; i < count; i++) {
            offsets.of[i] = round_up(end, alignments[i]);
            end = offsets.of[i] + sizes[i];
        }
        return offsets;
    }
};

template <class T> T argument(size_t offset) {
    typename std::aligned_storage<sizeof(T), alignof(T)>::type storage;
    memcpy(&storage, arguments + offset, sizeof(T));
    return *reinterpret_cast<T *>(&storage);
}

enum { INTEGER, FLOAT, BYTES }; /* as in cpu_build.py */

template <class T> constexpr int32_t kind_of() {
    return std::is_floating_point<T>::value                                                    ? FLOAT
           : std::is_integral<T>::value || std::is_pointer<T>::value || std::is_enum<T>::value ? INTEGER
                                                                                               : BYTES;
}

/* Runs the function of a kernel: for one thread, or for a range of blocks. */
template <class F, F f> struct KernelLauncher;
template <class... P, void (*f)(P...)> struct KernelLauncher<void (*)(P...), f> {
    template <size_t... I> static inline void call(std::index_sequence<I...>) {
        constexpr auto offsets = Layout<P...>::offsets();
        (void)offsets;
        f(argument<P>(offsets.of[I])...);
    }

    static void thread(int32_t index) {
        begin_thread(index);
        call(std::index_sequence_for<P...>());
    }

    /* Run blocks whose threads do not wait. */
    __attribute__((noinline)) static void run(const void *packed, int64_t first, int64_t last) {
        for (int64_t block = first; block < last; block++) {
            begin_block(packed, block);
            run_block(std::index_sequence_for<P...>());
        }
    }

    /* Run blocks with the function of a split kernel, which runs one. */
    __attribute__((noinline)) static void run_split(const void *packed, int64_t first, int64_t last) {
        for (int64_t block = first; block < last; block++) {
            begin_block(packed, block);
            call(std::index_sequence_for<P...>());
        }
    }

    template <size_t... I> static inline void run_block(std::index_sequence<I...>) {
        constexpr auto offsets = Layout<P...>::offsets();
        (void)offsets;
        run_threads(argument<P>(offsets.of[I])...);
    }

    static inline void run_threads(P... values) {
        const unsigned threads = blockDim.x;
        for (unsigned z = 0; z < blockDim.z; z++)
            for (unsigned y = 0; y < blockDim.y; y++)
                for (unsigned x = 0; x < threads; x++) {
                    threadIdx.x = x;
                    threadIdx.y = y;
                    threadIdx.z = z;
                    f(values...);
                }
    }
};

template <class F> struct ParameterTable;
template <class... P> struct ParameterTable<void (*)(P...)> {
    static constexpr size_t count = 1 + 3 * sizeof...(P);
    struct Table { int32_t of[count]; };
    static constexpr Table build() {
        constexpr int32_t sizes[] = {(int32_t)sizeof(P)..., 0};
        constexpr int32_t alignments[] = {(int32_t)alignof(P)..., 0};
        constexpr int32_t kinds[] = {kind_of<typename std::remove_cv<P>::type>()..., 0};
        Table table = {};
        table.of[0] = (int32_t)sizeof...(P);
        for (size_t i = 0; i < sizeof...(P); i++) {
            table.of[1 + 3 * i] = sizes[i];
            table.of[2 + 3 * i] = alignments[i];
            table.of[3 + 3 * i] = kinds[i];
        }
        return table;
    }
    static constexpr Table table = build();
};
template <class... P> constexpr typename ParameterTable<void (*)(P...)>::Table ParameterTable<void (*)(P...)>::table;

} // namespace pycu2c

/* The macro after a kernel: LOOP if it never waits, SPLIT if it is split, FIBERS if it may wait. */
#define PYCU2C_LOOP(number, ...) PYCU2C_RUN(number, run, __VA_ARGS__)
#define PYCU2C_SPLIT(number, ...) PYCU2C_RUN(number, run_split, __VA_ARGS__)
#define PYCU2C_RUN(number, by, ...)                                                                 \
    extern "C" __attribute__((visibility("default"))) void pycu2c_run_##number(                     \
        const void *packed, int64_t first, int64_t last) {                                          \
        ::pycu2c::touch_thread_locals();                                                                 \
        ::pycu2c::KernelLauncher<decltype(&__VA_ARGS__), &__VA_ARGS__>::by(packed, first, last);            \
    }                                                                                               \
    PYCU2C_KERNEL(number, nullptr, __VA_ARGS__)
#define PYCU2C_FIBERS(number, ...)                                                                  \
    PYCU2C_KERNEL(number, (::pycu2c::KernelLauncher<decltype(&__VA_ARGS__), &__VA_ARGS__>::thread), __VA_ARGS__)
#define PYCU2C_KERNEL(number, thread, ...)                                                       \
    extern "C" __attribute__((visibility("default"))) const ::pycu2c::Kernel pycu2c_kernel_##number; \
    extern "C" const ::pycu2c::Kernel pycu2c_kernel_##number = {                                    \
        ::pycu2c::begin_block, thread,                                                              \
        ::pycu2c::ParameterTable<decltype(&__VA_ARGS__)>::table.of};
