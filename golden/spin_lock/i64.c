#include <stddef.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct spin_lock_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    int64_t *p0_data0;
    int64_t *p1_data0;
    const int64_t *p2_data0;
    int64_t p2_shape0;
};

// Why a thread is suspended, in a word of 64 bits: the reason in the lowest 3 bits, then the number
// of the suspension point, from bit OPERATION the operation, in the upper half the mask of a warp
// operation.
enum { ENDED, WAIT_BLOCK, WAIT_WARP, WAIT_SYNCWARP, WAIT_ACTIVE, WAIT_CLUSTER, WAIT_GRID,
       WAIT_YIELD };
enum { OPERATION = 23 };

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

// if (*place == expected) *place = value, atomic; returns the old value.
static inline int64_t atomic_cas_i64(int64_t *place, int64_t expected, int64_t value) {
    __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    return expected;
}

// max(a, b) as in Python: a unless b > a.
static inline int64_t max_i64(int64_t a, int64_t b) {
    return b > a ? b : a;
}

static inline void release(int64_t *lock) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_exchange_n(&lock[0], 0LL, __ATOMIC_ACQUIRE);
}

// The shared memory of a block.
struct spin_lock_block {
    struct dim3 blockIdx;
};

// The state of a suspended thread.
struct spin_lock_thread {
    int32_t pc;
    struct dim3 threadIdx;
    int64_t value;
};

static inline int spin_lock_step(const struct spin_lock_args *args, struct spin_lock_block *block,
                                 struct spin_lock_thread *self) {
    int64_t *lock = args->p0_data0;
    int64_t *total = args->p1_data0;
    const int64_t *data = args->p2_data0;
    int64_t data_len = args->p2_shape0;
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    const struct dim3 blockIdx = block->blockIdx;
    const struct dim3 threadIdx = self->threadIdx;
    switch (self->pc) {
    case 0:;
        int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= data_len) return ENDED;
        self->value = data[i];
        if (self->value > 0) {
            while (atomic_cas_i64(&lock[0], 0LL, 1LL) != 0) {
                (void)100LL;
                self->pc = 1;
                return WAIT_YIELD;
            case 1:;
            }
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
            total[0] += (uint64_t)self->value;
            total[1] = max_i64(total[1], self->value);
            release(lock);
        }
    }
    return ENDED;
}

static void spin_lock_begin(const void *arguments, int64_t index, void *shared, void *threads) {
    const struct spin_lock_args *const args = arguments;
    struct spin_lock_block *const block = shared;
    struct spin_lock_thread *self = threads;
    block->blockIdx.x = index % args->gridDim[0];
    block->blockIdx.y = (index / args->gridDim[0]) % args->gridDim[1];
    block->blockIdx.z = (index / args->gridDim[0]) / args->gridDim[1];
    for (int64_t z = 0; z < args->blockDim[2]; ++z) {
        for (int64_t y = 0; y < args->blockDim[1]; ++y) {
            for (int64_t x = 0; x < args->blockDim[0]; ++x) {
                *self = (struct spin_lock_thread){.threadIdx = {x, y, z}};
                ++self;
            }
        }
    }
}

static void spin_lock_run(const void *arguments, void *shared, void *threads, uint32_t lanes,
                          uint64_t *waits) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        struct spin_lock_thread *const self = (struct spin_lock_thread *)threads + lane;
        const uint64_t reason = spin_lock_step(arguments, shared, self);
        waits[lane] = reason | (uint64_t)self->pc << 3;
    }
}

const struct coroutine_kernel spin_lock = {
    spin_lock_begin,
    spin_lock_run,
    NULL,
    sizeof(struct spin_lock_block),
    sizeof(struct spin_lock_thread),
    1,
    {1, 1, 1},
    NULL,
};
