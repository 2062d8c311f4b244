#include <stddef.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct grid_barrier_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
    int32_t p2_value0;
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

// The shared memory of a block.
struct grid_barrier_block {
    struct dim3 blockIdx;
};

// The state of a suspended thread.
struct grid_barrier_thread {
    int32_t pc;
    struct dim3 threadIdx;
    int64_t i;
    int64_t n;
    int64_t _;
};

static inline int grid_barrier_step(const struct grid_barrier_args *args,
                                    struct grid_barrier_block *block,
                                    struct grid_barrier_thread *self) {
    float *a = args->p0_data0;
    int64_t a_len = args->p0_shape0;
    float *b = args->p1_data0;
    int32_t rounds = args->p2_value0;
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    const struct dim3 blockIdx = block->blockIdx;
    const struct dim3 threadIdx = self->threadIdx;
    switch (self->pc) {
    case 0:;
        self->i = blockIdx.x * blockDim.x + threadIdx.x;
        self->n = a_len;
        for (self->_ = 0; self->_ < (int64_t)rounds; ++self->_) {
            if (self->i < self->n) {
                int64_t at = self->i - 1;
                int64_t at_1 = self->i + 1;
                b[self->i] = (a[at < 0 ? at + a_len : at] + a[at_1 < self->n ? at_1 : at_1 - self->n]) / 2.0f;
            }
            self->pc = 1;
            return WAIT_GRID;
        case 1:;
            if (self->i < self->n) {
                a[self->i] = b[self->i];
            }
            self->pc = 2;
            return WAIT_GRID;
        case 2:;
        }
    }
    return ENDED;
}

static void grid_barrier_begin(const void *arguments, int64_t index, void *shared, void *threads) {
    const struct grid_barrier_args *const args = arguments;
    struct grid_barrier_block *const block = shared;
    struct grid_barrier_thread *self = threads;
    block->blockIdx.x = index % args->gridDim[0];
    block->blockIdx.y = (index / args->gridDim[0]) % args->gridDim[1];
    block->blockIdx.z = (index / args->gridDim[0]) / args->gridDim[1];
    for (int64_t z = 0; z < args->blockDim[2]; ++z) {
        for (int64_t y = 0; y < args->blockDim[1]; ++y) {
            for (int64_t x = 0; x < args->blockDim[0]; ++x) {
                *self = (struct grid_barrier_thread){.threadIdx = {x, y, z}};
                ++self;
            }
        }
    }
}

static void grid_barrier_run(const void *arguments, void *shared, void *threads, uint32_t lanes,
                             uint64_t *waits) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        struct grid_barrier_thread *const self = (struct grid_barrier_thread *)threads + lane;
        const uint64_t reason = grid_barrier_step(arguments, shared, self);
        waits[lane] = reason | (uint64_t)self->pc << 3;
    }
}

const struct coroutine_kernel grid_barrier = {
    grid_barrier_begin,
    grid_barrier_run,
    NULL,
    sizeof(struct grid_barrier_block),
    sizeof(struct grid_barrier_thread),
    1,
    {1, 1, 1},
    NULL,
};
