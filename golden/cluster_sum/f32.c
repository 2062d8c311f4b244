#include <stddef.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct cluster_sum_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape0;
    float *p1_data0;
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

// *place += value, atomic; returns the old value.
static inline float atomic_add_f32(float *place, float value) {
    float old, next;
    __atomic_load(place, &old, __ATOMIC_ACQUIRE);
    do {
        next = old + value;
    } while (!__atomic_compare_exchange(place, &old, &next, 1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return old;
}

// The shared memory of a block.
struct cluster_sum_block {
    struct dim3 blockIdx;
    struct cluster_sum_block *const *cluster;
    float tile[2][32];
};

// The state of a suspended thread.
struct cluster_sum_thread {
    int32_t pc;
    struct dim3 threadIdx;
    int64_t t;
};

static inline int cluster_sum_step(const struct cluster_sum_args *args,
                                   struct cluster_sum_block *block,
                                   struct cluster_sum_thread *self) {
    const float *data = args->p0_data0;
    int64_t data_len = args->p0_shape0;
    float *sums = args->p1_data0;
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    const struct dim3 blockIdx = block->blockIdx;
    const struct dim3 threadIdx = self->threadIdx;
    switch (self->pc) {
    case 0:;
        self->t = threadIdx.x;
        int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
        block->tile[0][self->t] = i < data_len ? data[i] : 0.0f;
        self->pc = 1;
        return WAIT_CLUSTER;
    case 1:;
        if (blockIdx.x % 4 == 0) {
            float total = block->tile[0][self->t];
            for (int64_t rank = 1; rank < 4; ++rank) {
                int64_t theirs_start0 = rank;
                int64_t theirs_start1 = 0;
                int64_t theirs_start2 = 0;
                total += block->cluster[theirs_start0]->tile[theirs_start1][theirs_start2 + self->t];
            }
            atomic_add_f32(&sums[blockIdx.x / 4], total);
        }
        self->pc = 2;
        return WAIT_CLUSTER;
    case 2:;
    }
    return ENDED;
}

static void cluster_sum_begin(const void *arguments, int64_t index, void *shared, void *threads) {
    const struct cluster_sum_args *const args = arguments;
    struct cluster_sum_block *const block = shared;
    struct cluster_sum_thread *self = threads;
    block->blockIdx.x = index % args->gridDim[0];
    block->blockIdx.y = (index / args->gridDim[0]) % args->gridDim[1];
    block->blockIdx.z = (index / args->gridDim[0]) / args->gridDim[1];
    for (int64_t z = 0; z < args->blockDim[2]; ++z) {
        for (int64_t y = 0; y < args->blockDim[1]; ++y) {
            for (int64_t x = 0; x < args->blockDim[0]; ++x) {
                *self = (struct cluster_sum_thread){.threadIdx = {x, y, z}};
                ++self;
            }
        }
    }
}

static void cluster_sum_run(const void *arguments, void *shared, void *threads, uint32_t lanes,
                            uint64_t *waits) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        struct cluster_sum_thread *const self = (struct cluster_sum_thread *)threads + lane;
        const uint64_t reason = cluster_sum_step(arguments, shared, self);
        waits[lane] = reason | (uint64_t)self->pc << 3;
    }
}

static void cluster_sum_set_cluster(void *shared, void *const *cluster) {
    struct cluster_sum_block *const block = shared;
    block->cluster = (struct cluster_sum_block *const *)cluster;
}

const struct coroutine_kernel cluster_sum = {
    cluster_sum_begin,
    cluster_sum_run,
    NULL,
    sizeof(struct cluster_sum_block),
    sizeof(struct cluster_sum_thread),
    0,
    {4, 1, 1},
    cluster_sum_set_cluster,
};
