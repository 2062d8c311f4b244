// Clusters and registers of GPUs, and clocks.

// ==== signed, unsigned, floating

// mask if all its lanes have the same value, else 0.
$q unsigned int match_all_$t(unsigned int mask, $T value) {
    int same;
    return __match_all_sync(mask, value, &same);
}

// ==== signed, unsigned

// The thread's number in its warp.
$q $T laneid_$t() {
    unsigned int value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    return ($T)value;
}

// The bits of the lanes below the thread's own.
$q $T lanemask_lt_$t() {
    unsigned int value;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(value));
    return ($T)value;
}

// The bit of the thread's own lane.
$q $T lanemask_eq_$t() {
    unsigned int value;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(value));
    return ($T)value;
}

// The bits of the lanes up to the thread's own.
$q $T lanemask_le_$t() {
    unsigned int value;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(value));
    return ($T)value;
}

// The bits of the lanes above the thread's own.
$q $T lanemask_gt_$t() {
    unsigned int value;
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(value));
    return ($T)value;
}

// The bits of the thread's own lane and the lanes above.
$q $T lanemask_ge_$t() {
    unsigned int value;
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(value));
    return ($T)value;
}

// ==== signed

// The bytes of dynamic shared memory that the launch gives each block.
$q $T shared_bytes_$t() {
    unsigned int size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return ($T)size;
}

// ==== fixed

// Waits for the threads of the block, whose lanes may have diverged; counts the true predicates.
$q int barrier_count(int predicate) {
    int count;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }"
                 : "=r"(count)
                 : "r"(predicate)
                 : "memory");
    return count;
}

// Waits in the same way; tells whether all predicates are true.
$q int barrier_and(int predicate) {
    return barrier_count(!predicate) == 0;
}

// Waits in the same way; tells whether a predicate is true.
$q int barrier_or(int predicate) {
    return barrier_count(predicate) != 0;
}

// Waits until all threads of the cluster have arrived.
$q void cluster_sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

// The same shared array of the block with this rank in the cluster.
template <typename T> $q T *shared_of(T *array, unsigned int rank) {
    return (T *)__cluster_map_shared_rank(array, rank);
}

// Nanoseconds of the GPU's clock.
$q long long globaltimer() {
    long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// The lower 32 bits of the multiprocessor's clock.
$q unsigned int clock32() {
    return (unsigned int)clock64();
}

// Nanoseconds of a monotonic clock.
$q uint32_t nanoseconds_u32(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((long long)now.tv_sec * 1000000000 + now.tv_nsec);
}

// Nanoseconds of a monotonic clock.
$q int64_t nanoseconds_i64(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)((long long)now.tv_sec * 1000000000 + now.tv_nsec);
}
