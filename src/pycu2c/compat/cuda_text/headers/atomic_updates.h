/* Atomic updates, and in the namespace non_atomic those of shared memory, which one OS thread accesses. */

#define PYCU2C_UPDATE(T, name, update, result)                                                      \
    namespace pycu2c {                                                                              \
    namespace non_atomic {                                                                          \
    static inline T name(T *address, T value) {                                                     \
        T old = *address;                                                                           \
        *address = result;                                                                          \
        return old;                                                                                 \
    }                                                                                               \
    }                                                                                               \
    static inline T name(T *address, T value) { update }                                            \
    static inline T name##_block(T *address, T value) { return name(address, value); }              \
    static inline T name##_system(T *address, T value) { return name(address, value); }             \
    }                                                                                               \
    using pycu2c::name;                                                                             \
    using pycu2c::name##_block;                                                                     \
    using pycu2c::name##_system;
#define PYCU2C_FETCH(T, name, function, result)                                                     \
    PYCU2C_UPDATE(T, name, return __atomic_##function(address, value, __ATOMIC_ACQUIRE);, result)
#define PYCU2C_LOOP_UNTIL_UNCHANGED(T, name, is_changed, result)                                    \
    PYCU2C_UPDATE(T, name,                                                                          \
        T old; T next;                                                                              \
        __atomic_load(address, &old, __ATOMIC_ACQUIRE);                                             \
        do {                                                                                        \
            next = result;                                                                          \
        } while ((is_changed) && !__atomic_compare_exchange(address, &old, &next, true,             \
                                                            __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));   \
        return old;, result)
#define PYCU2C_INTEGER_UPDATES(T, U)                                                                \
    PYCU2C_FETCH(T, atomicAdd, fetch_add, (T)((U)old + (U)value))                                   \
    PYCU2C_FETCH(T, atomicSub, fetch_sub, (T)((U)old - (U)value))                                   \
    PYCU2C_FETCH(T, atomicAnd, fetch_and, old & value)                                              \
    PYCU2C_FETCH(T, atomicOr, fetch_or, old | value)                                                \
    PYCU2C_FETCH(T, atomicXor, fetch_xor, old ^ value)                                              \
    PYCU2C_LOOP_UNTIL_UNCHANGED(T, atomicMin, next != old, value < old ? value : old)               \
    PYCU2C_LOOP_UNTIL_UNCHANGED(T, atomicMax, next != old, value > old ? value : old)
PYCU2C_INTEGER_UPDATES(int, unsigned)
PYCU2C_INTEGER_UPDATES(unsigned, unsigned)
PYCU2C_INTEGER_UPDATES(long, unsigned long)
PYCU2C_INTEGER_UPDATES(unsigned long, unsigned long)
PYCU2C_INTEGER_UPDATES(long long, unsigned long long)
PYCU2C_INTEGER_UPDATES(unsigned long long, unsigned long long)
PYCU2C_LOOP_UNTIL_UNCHANGED(float, atomicAdd, true, old + value)
PYCU2C_LOOP_UNTIL_UNCHANGED(double, atomicAdd, true, old + value)
PYCU2C_LOOP_UNTIL_UNCHANGED(unsigned, atomicInc, true, old >= value ? 0 : old + 1)
PYCU2C_LOOP_UNTIL_UNCHANGED(unsigned, atomicDec, true, old == 0 || old > value ? value : old - 1)
#undef PYCU2C_INTEGER_UPDATES
#undef PYCU2C_LOOP_UNTIL_UNCHANGED
#undef PYCU2C_FETCH
#undef PYCU2C_UPDATE
