/* Atomics and fences. A busy-wait on another thread of the same OS thread needs that thread to run:
 * exchanges that change nothing yield from time to time. */

namespace pycu2c {

template <class T> struct WordOf { typedef typename std::conditional<sizeof(T) == 8, uint64_t, typename std::conditional<sizeof(T) == 4, uint32_t, uint16_t>::type>::type type; };

template <class T, class F> static inline T exchange_by(T *address, F made) {
    typedef typename WordOf<T>::type Word;
    static_assert(sizeof(T) == sizeof(Word), "atomics are of 2, 4 or 8 bytes");
    Word *word = reinterpret_cast<Word *>(address), old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
        T before, after;
        Word next;
        memcpy(&before, &old, sizeof old);
        after = made(before);
        memcpy(&next, &after, sizeof next);
        if (__atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return before;
    }
}

/* Never inlined into a loop: see make_variables. */
__attribute__((noinline, unused)) static void yield_while_unchanged() {
    static thread_local unsigned times;
    if (++times % 64 == 0) yield();
}

} // namespace pycu2c

#define PYCU2C_SCOPES(result, name, taken, given)                                                   \
    static inline result name##_block taken { return name given; }                                  \
    static inline result name##_system taken { return name given; }

#define PYCU2C_WHOLE(T)                                                                          \
    static inline T atomicAdd(T *a, T v) { return __atomic_fetch_add(a, v, __ATOMIC_RELAXED); }   \
    static inline T atomicSub(T *a, T v) { return __atomic_fetch_sub(a, v, __ATOMIC_RELAXED); }   \
    static inline T atomicAnd(T *a, T v) { return __atomic_fetch_and(a, v, __ATOMIC_RELAXED); }   \
    static inline T atomicOr(T *a, T v) { return __atomic_fetch_or(a, v, __ATOMIC_RELAXED); }     \
    static inline T atomicXor(T *a, T v) { return __atomic_fetch_xor(a, v, __ATOMIC_RELAXED); }   \
    static inline T atomicMin(T *a, T v) {                                                 \
        return pycu2c::exchange_by(a, [v](T old) { return v < old ? v : old; });                 \
    }                                                                                               \
    static inline T atomicMax(T *a, T v) {                                                 \
        return pycu2c::exchange_by(a, [v](T old) { return old < v ? v : old; });                 \
    }                                                                                               \
    PYCU2C_SCOPES(T, atomicAdd, (T *a, T v), (a, v))                                       \
    PYCU2C_SCOPES(T, atomicSub, (T *a, T v), (a, v))                                       \
    PYCU2C_SCOPES(T, atomicAnd, (T *a, T v), (a, v))                                       \
    PYCU2C_SCOPES(T, atomicOr, (T *a, T v), (a, v))                                        \
    PYCU2C_SCOPES(T, atomicXor, (T *a, T v), (a, v))                                       \
    PYCU2C_SCOPES(T, atomicMin, (T *a, T v), (a, v))                                       \
    PYCU2C_SCOPES(T, atomicMax, (T *a, T v), (a, v))

#define PYCU2C_EXCHANGES(T)                                                                      \
    static inline T atomicExch(T *a, T v) {                                                \
        typename pycu2c::WordOf<T>::type word, *place = reinterpret_cast<decltype(word) *>(a);   \
        memcpy(&word, &v, sizeof v);                                                                \
        word = __atomic_exchange_n(place, word, __ATOMIC_SEQ_CST);                                  \
        T old;                                                                                   \
        memcpy(&old, &word, sizeof old);                                                            \
        if (!memcmp(&old, &v, sizeof v)) pycu2c::yield_while_unchanged();                                  \
        return old;                                                                                 \
    }                                                                                               \
    PYCU2C_SCOPES(T, atomicExch, (T *a, T v), (a, v))

#define PYCU2C_COMPARES(T)                                                                       \
    static inline T atomicCAS(T *a, T expected, T v) {                                  \
        T old = expected;                                                                        \
        if (!__atomic_compare_exchange_n(a, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))    \
            pycu2c::yield_while_unchanged();                                                               \
        return old;                                                                                 \
    }                                                                                               \
    PYCU2C_SCOPES(T, atomicCAS, (T *a, T e, T v), (a, e, v))

#define PYCU2C_FLOATING(T)                                                                       \
    static inline T atomicAdd(T *a, T v) {                                                 \
        return pycu2c::exchange_by(a, [v](T old) { return old + v; });                           \
    }                                                                                               \
    PYCU2C_SCOPES(T, atomicAdd, (T *a, T v), (a, v))

PYCU2C_WHOLE(int)
PYCU2C_WHOLE(unsigned int)
PYCU2C_WHOLE(long)
PYCU2C_WHOLE(unsigned long)
PYCU2C_WHOLE(long long)
PYCU2C_WHOLE(unsigned long long)
PYCU2C_FLOATING(float)
PYCU2C_FLOATING(double)
PYCU2C_EXCHANGES(int)
PYCU2C_EXCHANGES(unsigned int)
PYCU2C_EXCHANGES(unsigned long)
PYCU2C_EXCHANGES(unsigned long long)
PYCU2C_EXCHANGES(long long)
PYCU2C_EXCHANGES(float)
PYCU2C_EXCHANGES(double)
PYCU2C_COMPARES(int)
PYCU2C_COMPARES(unsigned int)
PYCU2C_COMPARES(unsigned short)
PYCU2C_COMPARES(long long)
PYCU2C_COMPARES(unsigned long)
PYCU2C_COMPARES(unsigned long long)

static inline unsigned atomicInc(unsigned *a, unsigned most) {
    return pycu2c::exchange_by(a, [most](unsigned old) { return old >= most ? 0 : old + 1; });
}
static inline unsigned atomicDec(unsigned *a, unsigned most) {
    return pycu2c::exchange_by(a, [most](unsigned old) { return old == 0 || old > most ? most : old - 1; });
}
PYCU2C_SCOPES(unsigned, atomicInc, (unsigned *a, unsigned v), (a, v))
PYCU2C_SCOPES(unsigned, atomicDec, (unsigned *a, unsigned v), (a, v))

#undef PYCU2C_SCOPES
#undef PYCU2C_WHOLE
#undef PYCU2C_EXCHANGES
#undef PYCU2C_COMPARES
#undef PYCU2C_FLOATING

namespace pycu2c {

/* Atomics on shared memory, which only one OS thread accesses (fission/shared_atomics.py). */
namespace non_atomic {
template <class T, bool whole = std::is_integral<T>::value> struct Sums {
    static T sum(T a, T b) { return a + b; }
    static T difference(T a, T b) { return a - b; }
};
template <class T> struct Sums<T, true> { /* wraparound without undefined behavior */
    typedef typename std::make_unsigned<T>::type U;
    static T sum(T a, T b) { return (T)((U)a + (U)b); }
    static T difference(T a, T b) { return (T)((U)a - (U)b); }
};
template <class T> struct Same { typedef T type; };

#define PYCU2C_ALONE(name, made)                                                                    \
    template <class T>                                                                              \
    static inline auto name(T *a, typename Same<T>::type v) -> decltype(::name(a, v)) {             \
        T old = *a;                                                                                 \
        *a = made;                                                                                  \
        return old;                                                                                 \
    }
PYCU2C_ALONE(atomicAdd, Sums<T>::sum(old, v))
PYCU2C_ALONE(atomicSub, Sums<T>::difference(old, v))
PYCU2C_ALONE(atomicMin, v < old ? v : old)
PYCU2C_ALONE(atomicMax, old < v ? v : old)
PYCU2C_ALONE(atomicAnd, old & v)
PYCU2C_ALONE(atomicOr, old | v)
PYCU2C_ALONE(atomicXor, old ^ v)
PYCU2C_ALONE(atomicInc, old >= v ? 0 : old + 1)
PYCU2C_ALONE(atomicDec, old == 0 || old > v ? v : old - 1)
#undef PYCU2C_ALONE
} // namespace non_atomic

} // namespace pycu2c

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
