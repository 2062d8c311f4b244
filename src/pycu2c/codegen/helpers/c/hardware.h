// Clusters, registers and clocks of GPUs.

// ==== signed, unsigned, floating

// mask if all its lanes have the same value, else 0.
$q unsigned int match_all_$t(unsigned int mask, $T value) {
    int same;
    return __match_all_sync(mask, value, &same);
}

// ==== signed

// The bytes of dynamic shared memory that the launch gives each block.
$q $T shared_bytes_$t() {
    unsigned int size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return ($T)size;
}

// ==== fixed

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
