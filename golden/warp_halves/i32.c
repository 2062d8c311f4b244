#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct warp_halves_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const int32_t *p0_data0;
    int32_t *p1_data0;
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
struct warp_halves_block {
    struct dim3 blockIdx;
    int32_t sent[64];
    uint32_t holds[2];
    uint32_t here[2];
    int32_t sent_1[64];
};

// The state of a suspended thread.
struct warp_halves_thread {
    int32_t pc;
    uint32_t mask;
    struct dim3 threadIdx;
    int32_t sent;
    uint32_t holds;
    uint32_t here;
    int32_t sent_1;
    int64_t i;
    int32_t x;
};

static inline int warp_halves_step(const struct warp_halves_args *args,
                                   struct warp_halves_block *block,
                                   struct warp_halves_thread *self) {
    const int32_t *a = args->p0_data0;
    int32_t *out = args->p1_data0;
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    const struct dim3 blockIdx = block->blockIdx;
    const struct dim3 threadIdx = self->threadIdx;
    const int64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    switch (self->pc) {
    case 0:;
        self->i = blockIdx.x * blockDim.x + threadIdx.x;
        self->x = a[self->i];
        if ((thread & 31) < 16) {
            self->sent = self->x;
            self->mask = 65535;
            self->pc = 1;
            return WAIT_WARP;
        case 1:;
            int32_t result = ((int32_t)thread & 8) != 0 ? block->sent[thread - 8] : block->sent[thread + 8];
            self->x += (uint32_t)result;
            self->sent = self->x;
            self->mask = 65535;
            self->pc = 2;
            return WAIT_WARP;
        case 2:;
            int32_t result_1 = ((int32_t)thread & 4) != 0 ? block->sent[thread - 4] : block->sent[thread + 4];
            self->x += (uint32_t)result_1;
            self->sent = self->x;
            self->mask = 65535;
            self->pc = 3;
            return WAIT_WARP;
        case 3:;
            int32_t result_2 = ((int32_t)thread & 2) != 0 ? block->sent[thread - 2] : block->sent[thread + 2];
            self->x += (uint32_t)result_2;
            self->sent = self->x;
            self->mask = 65535;
            self->pc = 4;
            return WAIT_WARP;
        case 4:;
            int32_t result_3 = ((int32_t)thread & 1) != 0 ? block->sent[thread - 1] : block->sent[thread + 1];
            self->x += (uint32_t)result_3;
        } else {
            bool predicate = self->x > 40;
            self->holds = predicate ? 1U << (uint32_t)(thread & 31) : 0;
            self->mask = 4294901760LL;
            self->pc = 5;
            return WAIT_WARP | (1 << OPERATION);
        case 5:;
            bool result = ((int64_t)block->holds[thread >> 5] & 4294901760LL) != 0;
            if (result) {
                self->here = 1U << (uint32_t)(thread & 31);
                self->sent_1 = self->x;
                self->mask = 4294901760LL;
                self->pc = 6;
                return WAIT_WARP | (2 << OPERATION);
            case 6:;
                int32_t total = self->x;
                int64_t who = (int64_t)block->here[thread >> 5] & 4294901760LL;
                for (int64_t lane = 0; lane < 32; ++lane) {
                    if (((who >> lane) & 1) != 0) {
                        total = block->sent_1[(thread & -32) | lane] > total ? block->sent_1[(thread & -32) | lane] : total;
                    }
                }
                self->x = total;
            }
        }
        out[self->i] = self->x;
    }
    return ENDED;
}

static void warp_halves_begin(const void *arguments, int64_t index, void *shared, void *threads) {
    const struct warp_halves_args *const args = arguments;
    struct warp_halves_block *const block = shared;
    struct warp_halves_thread *self = threads;
    block->blockIdx.x = index % args->gridDim[0];
    block->blockIdx.y = (index / args->gridDim[0]) % args->gridDim[1];
    block->blockIdx.z = (index / args->gridDim[0]) / args->gridDim[1];
    for (int64_t z = 0; z < args->blockDim[2]; ++z) {
        for (int64_t y = 0; y < args->blockDim[1]; ++y) {
            for (int64_t x = 0; x < args->blockDim[0]; ++x) {
                *self = (struct warp_halves_thread){.threadIdx = {x, y, z}};
                ++self;
            }
        }
    }
}

static void warp_halves_run(const void *arguments, void *shared, void *threads, uint32_t lanes,
                            uint64_t *waits) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        struct warp_halves_thread *const self = (struct warp_halves_thread *)threads + lane;
        const uint64_t reason = warp_halves_step(arguments, shared, self);
        waits[lane] = reason | (uint64_t)self->pc << 3 | (uint64_t)self->mask << 32;
    }
}

static void warp_halves_publish(void *shared, void *threads, int64_t warp, uint32_t lanes,
                                int32_t is_first) {
    struct warp_halves_block *const block = shared;
    block->holds[warp] = 0;
    block->here[warp] = 0;
    (void)is_first;
    for (; lanes; lanes &= lanes - 1) {
        const int64_t lane = __builtin_ctz(lanes);
        const struct warp_halves_thread *const self = (struct warp_halves_thread *)threads + lane;
        switch (self->pc) {
        case 1:
            block->sent[32 * warp + lane] = self->sent;
            break;
        case 2:
            block->sent[32 * warp + lane] = self->sent;
            break;
        case 3:
            block->sent[32 * warp + lane] = self->sent;
            break;
        case 4:
            block->sent[32 * warp + lane] = self->sent;
            break;
        case 5:
            block->holds[warp] += self->holds;
            break;
        case 6:
            block->here[warp] += self->here;
            block->sent_1[32 * warp + lane] = self->sent_1;
            break;
        }
    }
}

const struct coroutine_kernel warp_halves = {
    warp_halves_begin,
    warp_halves_run,
    warp_halves_publish,
    sizeof(struct warp_halves_block),
    sizeof(struct warp_halves_thread),
    0,
    {1, 1, 1},
    NULL,
};
