// Why a thread is suspended, in a word of 64 bits: the reason in the lowest 3 bits, then the number
// of the suspension point, from bit OPERATION the operation, in the upper half the mask of a warp
// operation.
enum { ENDED, WAIT_BLOCK, WAIT_WARP, WAIT_SYNCWARP, WAIT_ACTIVE, WAIT_CLUSTER, WAIT_GRID,
       WAIT_YIELD };
enum { OPERATION = $operation };

// A kernel whose threads are coroutines.
struct coroutine_kernel {
    // initializes the threads of the block with this linear index
    void (*begin)(const void *arguments, int64_t index, void *shared, void *threads);
    // resumes each thread of a warp that has a bit in lanes
    void (*run)(const void *arguments, void *shared, void *threads, uint32_t lanes,
                uint64_t *waits);
    // copies the contributions of such threads to shared memory; NULL if there are none
    void (*publish)(void *shared, void *threads, int64_t warp, uint32_t lanes, int32_t is_first);
    int64_t shared_size, thread_size;
    int32_t waits_for_blocks; // whether blocks may wait for blocks of other clusters
    int32_t cluster[3]; // blocks of a cluster along x, y and z
    // passes a block the shared memory of the blocks of its cluster; NULL if it does not use it
    void (*set_cluster)(void *shared, void *const *cluster);
};
