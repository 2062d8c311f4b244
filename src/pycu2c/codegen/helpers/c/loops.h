// Nontemporal stores, prefetch, and an assumption about trip counts, for loops on the CPU.

// ==== fixed

// Stores a whole cache line of 64 bytes, which then need not be read first.
$q void store_line(void *to, const void *from) {
#if defined __clang__ || defined __SSE2__
#if defined __AVX512F__
    typedef long long part __attribute__((vector_size(64)));
#elif defined __AVX__
    typedef long long part __attribute__((vector_size(32)));
#else
    typedef long long part __attribute__((vector_size(16)));
#endif
    for (int i = 0; i < 64; i += (int)sizeof(part)) {
        part value;
        __builtin_memcpy(&value, (const char *)from + i, sizeof value);
        part *const there = (part *)((char *)to + i);
#if defined __clang__
        __builtin_nontemporal_store(value, there);
#elif defined __AVX512F__
        __builtin_ia32_movntdq512(there, value);
#elif defined __AVX__
        __builtin_ia32_movntdq256(there, value);
#else
        __builtin_ia32_movntdq(there, value);
#endif
    }
#else
    __builtin_memcpy(to, from, 64);
#endif
}

// Makes nontemporal stores visible to other threads before later stores.
$q void nontemporal_fence(void) {
#if defined __SSE2__
    __builtin_ia32_sfence();
#endif
}

// ==== signed, unsigned, floating

// The number of elements between the start of the cache line and this one.
$q int64_t cache_line_offset_$t(const $T *first) {
    return (int64_t)((uintptr_t)first % 64 / sizeof *first);
}

// Stores elements past the caches, except for incomplete cache lines at the ends.
$q void nontemporal_store_$t($T *to, const $T *from, int64_t count) {
    enum { LINE = 64 / sizeof *to };
    int64_t i = 0;
    for (; i < count && (uintptr_t)(to + i) % 64 > 0; ++i) {
        to[i] = from[i];
    }
    for (; i + LINE <= count; i += LINE) {
        store_line(to + i, from + i);
    }
    for (; i < count; ++i) {
        to[i] = from[i];
    }
}

// Prefetches elements to be read: count of them, ahead of from; may be out of bounds.
$q void prefetch_$t(const $T *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i));
    }
}

// Prefetches elements to be written: count of them, ahead of from; may be out of bounds.
$q void prefetch_to_write_$t(const $T *from, int64_t ahead, int64_t count) {
    const uintptr_t first = (uintptr_t)from + (uintptr_t)ahead * sizeof *from;
    for (uintptr_t i = 0; i < (uintptr_t)count * sizeof *from; i += 64) {
        __builtin_prefetch((const void *)(first + i), 1);
    }
}

// ==== signed

// Tells the compiler that n >= 1, so that it does not test whether a loop up to n is empty.
$q void at_least_1_$t($T n) {
    if (n < 1) __builtin_unreachable();
}
