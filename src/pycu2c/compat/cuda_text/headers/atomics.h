/* Exchanges, compare-and-swap, fences, and accesses with cache hints; atomic_updates.h has the other
 * atomics. A busy-wait on another thread of the same OS thread needs that thread to run: loops that poll
 * memory, and exchanges that change nothing, yield from time to time. */

namespace pycu2c {

template <class T> struct UnsignedOfSize { typedef typename std::conditional<sizeof(T) == 8, uint64_t, typename std::conditional<sizeof(T) == 4, uint32_t, uint16_t>::type>::type type; };

/* Never inlined into a loop: see touch_thread_locals. */
__attribute__((noinline, unused)) static void yield_sometimes() {
    static thread_local unsigned times;
    if (++times % 64 == 0) yield();
}

} // namespace pycu2c

/* Begins the body of a loop that polls memory (polling.py). */
#define PYCU2C_POLL if (::pycu2c::yield_sometimes(), false) {} else

#define PYCU2C_SCOPES(result, name, parameters, call)                                                   \
    static inline result name##_block parameters { return name call; }                                  \
    static inline result name##_system parameters { return name call; }

#define PYCU2C_EXCHANGES(T)                                                                      \
    static inline T atomicExch(T *a, T v) {                                                \
        typename pycu2c::UnsignedOfSize<T>::type word, *target = reinterpret_cast<decltype(word) *>(a);   \
        memcpy(&word, &v, sizeof v);                                                                \
        word = __atomic_exchange_n(target, word, __ATOMIC_SEQ_CST);                                  \
        T old;                                                                                   \
        memcpy(&old, &word, sizeof old);                                                            \
        if (!memcmp(&old, &v, sizeof v)) pycu2c::yield_sometimes();                                        \
        return old;                                                                                 \
    }                                                                                               \
    PYCU2C_SCOPES(T, atomicExch, (T *a, T v), (a, v))

#define PYCU2C_COMPARE_AND_SWAPS(T)                                                                       \
    static inline T atomicCAS(T *a, T expected, T v) {                                  \
        T old = expected;                                                                        \
        if (!__atomic_compare_exchange_n(a, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))    \
            pycu2c::yield_sometimes();                                                                     \
        return old;                                                                                 \
    }                                                                                               \
    PYCU2C_SCOPES(T, atomicCAS, (T *a, T e, T v), (a, e, v))

PYCU2C_EXCHANGES(int)
PYCU2C_EXCHANGES(unsigned int)
PYCU2C_EXCHANGES(unsigned long)
PYCU2C_EXCHANGES(unsigned long long)
PYCU2C_EXCHANGES(long long)
PYCU2C_EXCHANGES(float)
PYCU2C_EXCHANGES(double)
PYCU2C_COMPARE_AND_SWAPS(int)
PYCU2C_COMPARE_AND_SWAPS(unsigned int)
PYCU2C_COMPARE_AND_SWAPS(unsigned short)
PYCU2C_COMPARE_AND_SWAPS(long long)
PYCU2C_COMPARE_AND_SWAPS(unsigned long)
PYCU2C_COMPARE_AND_SWAPS(unsigned long long)

#undef PYCU2C_SCOPES
#undef PYCU2C_EXCHANGES
#undef PYCU2C_COMPARE_AND_SWAPS

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* ---- loads and stores with cache hints ---- */

#define PYCU2C_LOAD(name) template <class T> static inline T name(const T *address) { return *address; }
#define PYCU2C_STORE(name) template <class T> static inline void name(T *address, T value) { *address = value; }
PYCU2C_LOAD(__ldg)
PYCU2C_LOAD(__ldcg)
PYCU2C_LOAD(__ldca)
PYCU2C_LOAD(__ldcs)
PYCU2C_LOAD(__ldlu)
PYCU2C_LOAD(__ldcv)
PYCU2C_STORE(__stwb)
PYCU2C_STORE(__stcg)
PYCU2C_STORE(__stcs)
PYCU2C_STORE(__stwt)
#undef PYCU2C_LOAD
#undef PYCU2C_STORE
