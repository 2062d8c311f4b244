// The log of prints, which the host reads after the launch.
struct { $W used, size, lost, *words; } print_log;

// The memory for `count` words of print number `print`; NULL if the log is full.
static inline $W *print_record(unsigned print, unsigned count) {
    const $W first = __atomic_fetch_add(&print_log.used, count + 1, __ATOMIC_RELAXED);
    if (first < print_log.size) print_log.words[first] = print;
    if (first + count < print_log.size) return print_log.words + first + 1;
    __atomic_fetch_add(&print_log.lost, 1, __ATOMIC_RELAXED);
    return NULL;
}
