// The log of prints, which the host reads after the launch.
extern "C" {
    __device__ struct { $W used, size, lost, *words; } print_log;
}

// The memory for `count` words of print number `print`; null if the log is full.
static __device__ $W *print_record(unsigned print, unsigned count) {
    const $W first = atomicAdd(&print_log.used, count + 1);
    if (first < print_log.size) print_log.words[first] = print;
    if (first + count < print_log.size) return print_log.words + first + 1;
    atomicAdd(&print_log.lost, 1);
    return 0;
}
