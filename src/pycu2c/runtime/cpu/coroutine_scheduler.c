/* Scheduler of coroutine kernels: kernels whose threads suspend at barriers. The declarations that
 * codegen/coroutines.py generates and native/launch_header.h precede this text.
 *
 * The threads of a block run warp by warp until none can proceed. Then the threads whose barrier is
 * complete are released. One OS thread runs the blocks of a cluster in turn, each as far as
 * possible; in a kernel without clusters, each block is a cluster. A deadlock is reported, never
 * waited for. block_scheduler.c, which follows this text, has the launches.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(_WIN32)
#include <malloc.h>
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#define free_aligned _aligned_free
#else
#define free_aligned free
#endif

enum {
    WARP = 32,
    CACHE_LINE = 64,           /* bytes; the alignment of memory */
    MAX_POLLS = 64,      /* polls of memory by waiting threads before others run */
    MIN_POLLS = 2,       /* the same after others have polled without progress */
    SINGLE_POLL = 1,        /* the same to check once whether threads can proceed */
    MAX_STEPS = 256,     /* steps with progress of a block before others run */
    CLUSTER_ROUNDS = 16, /* of the blocks of a cluster while some poll */
    MAX_UNCHANGED_PHASES = 3,     /* phases without a change before a launch is a deadlock */
    DEADLOCK_CODE = 64,
    MEMORY_CODE = 65,
    MAX_THREADS = 1024,
    MAX_REPORTED = 8 /* blocks */
};
#define REASON ((uint64_t)7)
#define SUSPENSION_POINT (((uint64_t)1 << OPERATION) - 8)
#define MASK(wait) ((uint32_t)((wait) >> 32))

typedef int (*Parallel)(void (*)(const void *, int64_t, int64_t), const void *, int64_t);

typedef void (*AnnounceCallee)(const void *);

static Parallel parallel;
static AnnounceCallee announce_callee;

/* The report of a launch: the number of failed polls and, after a deadlock, blocks that cannot
 * finish with the waits of their threads. */
static _Thread_local struct report {
    int64_t polls, count;
    struct {
        int64_t number;
        uint64_t waits[MAX_THREADS];
    } blocks[MAX_REPORTED];
} report;

/* A memory region of the arguments, which blocks may poll for values of other blocks. */
struct region {
    const char *begin;
    int64_t size;
};
static _Thread_local const struct region *regions;
static _Thread_local int64_t region_count;

enum status { FINISHED, AT_CLUSTER, AT_GRID, POLLING, DEADLOCKED };

/* A block in execution. `ready` has the lanes of each warp that can proceed, `waits` the reason
 * why each thread is suspended. */
typedef struct {
    int64_t number;
    enum status status;
    bool is_polling; /* its ready threads poll memory */
    bool waits_changed;  /* a thread has made progress since the last check */
    uint64_t waits_hash;   /* the hash of the waits at the last check */
    int64_t polls;   /* failed polls since the last check */
    uint32_t *ready;
    uint64_t *waits;
    char *shared, *threads;
} Block;

/* The blocks of a cluster, by their rank. */
typedef struct {
    enum status status;
    int max_polls; /* polls of its threads before others run */
    Block *blocks[MAX_CLUSTER_BLOCKS];
    void *shared[MAX_CLUSTER_BLOCKS]; /* of each block */
} Cluster;

/* A counter that several OS threads write, on its own cache line. */
typedef struct {
    _Alignas(CACHE_LINE) atomic_int_fast64_t count;
} Counter;

typedef struct {
    const struct coroutine_kernel *kernel;
    const void *arguments;
    int64_t cluster_blocks;       /* blocks of a cluster */
    int64_t threads, warps; /* of a block */
    int64_t shared_size, shared_capacity; /* a block may write up to the capacity */
    atomic_int code; /* why the launch ends early; 0 if it does not */
    atomic_flag reporting;
    struct report *report;
    const struct region *regions; /* of this launch; a signal handler may start another */
    int64_t region_count;
    struct suspended_clusters *suspended_clusters; /* of a kernel whose blocks wait for each other */
} Launch;

/* ---- memory ---- */

static size_t rounded(size_t bytes) { return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE; }

/* Return the bytes before the shared memory of a block. */
static size_t private_size(const Launch *l) {
    const size_t ready = rounded(l->warps * sizeof(uint32_t));
    const size_t waits = rounded(l->warps * WARP * sizeof(uint64_t));
    const size_t threads = rounded(l->threads * l->kernel->thread_size);
    return rounded(sizeof(Block)) + ready + waits + threads;
}

static size_t block_size(const Launch *l) { return private_size(l) + rounded(l->shared_capacity); }

static size_t cluster_size(const Launch *l) {
    return rounded(sizeof(Cluster)) + l->cluster_blocks * block_size(l);
}

static uint32_t lanes_of(const Launch *l, int64_t warp) {
    const int64_t left = l->threads - warp * WARP;
    return left >= WARP ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

/* Start a block in memory of `block_size` bytes. */
static Block *start_block(const Launch *l, int64_t number, void *memory) {
    Block *b = memory;
    char *next = (char *)memory + rounded(sizeof *b);
    b->number = number;
    b->status = POLLING;
    b->is_polling = false;
    b->waits_changed = false;
    b->waits_hash = 0;
    b->polls = 0;
    b->ready = (uint32_t *)next;
    next += rounded(l->warps * sizeof *b->ready);
    b->waits = (uint64_t *)next;
    next += rounded(l->warps * WARP * sizeof *b->waits);
    b->threads = next;
    b->shared = (char *)memory + private_size(l);
    for (int64_t w = 0; w < l->warps; w++) b->ready[w] = lanes_of(l, w);
    memset(b->waits, 0, l->warps * WARP * sizeof *b->waits);
    l->kernel->begin(l->arguments, number, b->shared, b->threads);
    return b;
}

/* Return the linear index of a block in the grid from its cluster and its rank. */
static int64_t number_of(const Launch *l, int64_t cluster, int64_t rank) {
    const int32_t *size = l->kernel->cluster;
    const int32_t *grid = ((const LaunchHeader *)l->arguments)->grid;
    const int64_t row = grid[0] / size[0], rows = grid[1] / size[1];
    const int64_t x = cluster % row * size[0] + rank % size[0];
    const int64_t y = cluster / row % rows * size[1] + rank / size[0] % size[1];
    const int64_t z = cluster / row / rows * size[2] + rank / size[0] / size[1];
    return x + grid[0] * (y + grid[1] * z);
}

/* Start a cluster in memory of `cluster_size` bytes. */
static Cluster *start_cluster(const Launch *l, int64_t number, void *memory) {
    Cluster *c = memory;
    char *next = (char *)memory + rounded(sizeof *c);
    c->max_polls = MAX_POLLS;
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++, next += block_size(l)) {
        c->blocks[rank] = start_block(l, number_of(l, number, rank), next);
        c->shared[rank] = c->blocks[rank]->shared;
    }
    for (int64_t rank = 0; l->kernel->set_cluster && rank < l->cluster_blocks; rank++)
        l->kernel->set_cluster(c->shared[rank], c->shared);
    return c;
}

/* Return memory for one cluster, which the worker reuses for its lifetime. */
static void *worker_memory(size_t size) {
    static _Thread_local void *memory = NULL;
    static _Thread_local size_t has = 0;
    if (has < size) {
        void *const old = memory;
        memory = NULL;
        has = 0;
        atomic_signal_fence(memory_order_seq_cst); /* interrupt.c may end the launch after this */
        free_aligned(old);
        memory = aligned_alloc(CACHE_LINE, size);
        atomic_signal_fence(memory_order_seq_cst);
        if (memory) has = size;
    }
    return memory;
}

/* ---- one block ---- */

/* Return whether all waits are equal: the common case, and cheap to check. */
static bool all_equal(const uint64_t *waits, int64_t count) {
    uint64_t differing = 0;
    for (int64_t i = 1; i < count; i++) differing |= waits[i] ^ waits[0];
    return !differing;
}

/* Return the lanes of a warp whose waits have the reason `reason`. */
static uint32_t lanes_with(const uint64_t *waits, uint64_t reason) {
    uint32_t found = 0;
    for (int lane = 0; lane < WARP; lane++)
        found |= (uint32_t)((waits[lane] & REASON) == reason) << lane;
    return found;
}

/* Return the lanes that wait for the same as lane `lane`: the same operation with the same mask,
 * or, for WAIT_ACTIVE, the same suspension point. */
static uint32_t matching_lanes(const uint64_t *waits, int lane) {
    const uint64_t own = waits[lane];
    const uint64_t what = (own & REASON) == WAIT_ACTIVE ? ~(uint64_t)0 : ~SUSPENSION_POINT;
    uint32_t found = 0;
    for (int other = 0; other < WARP; other++)
        found |= (uint32_t)(((waits[other] ^ own) & what) == 0) << other;
    return found;
}

static void publish(const Launch *l, Block *b, int64_t warp, uint32_t lanes, bool is_first) {
    if (!l->kernel->publish || !lanes) return;
    char *threads = b->threads + warp * WARP * l->kernel->thread_size;
    l->kernel->publish(b->shared, threads, warp, lanes, is_first);
}

/* Return the lanes of a warp whose synchronization is complete. */
static uint32_t synchronized_lanes(const Launch *l, Block *b, int64_t warp) {
    const uint64_t *waits = b->waits + warp * WARP, reason = waits[0] & REASON;
    const uint32_t all = lanes_of(l, warp);
    if (all_equal(waits, __builtin_popcount(all))) {
        const bool lanes_only =
            reason == WAIT_WARP || reason == WAIT_SYNCWARP || reason == WAIT_ACTIVE;
        return lanes_only ? all : 0;
    }
    const uint32_t live = ~lanes_with(waits, ENDED) & all;
    uint32_t waiting = lanes_with(waits, WAIT_WARP) | lanes_with(waits, WAIT_SYNCWARP);
    uint32_t found = 0;
    while (waiting) {
        const int lane = __builtin_ctz(waiting);
        const uint32_t same = matching_lanes(waits, lane);
        waiting &= ~same;
        if (!(MASK(waits[lane]) & live & ~same)) found |= same;
    }
    if (found) return found;
    const uint32_t active = lanes_with(waits, WAIT_ACTIVE); /* no other lane can arrive */
    return active ? matching_lanes(waits, __builtin_ctz(active)) : 0;
}

/* Run each warp until it waits for threads of other warps. */
static void run_warps(const Launch *l, Block *b) {
    const struct coroutine_kernel *kernel = l->kernel;
    for (int64_t w = 0; w < l->warps; w++) {
        char *threads = b->threads + w * WARP * kernel->thread_size;
        for (uint32_t lanes = b->ready[w]; lanes;) {
            kernel->run(l->arguments, b->shared, threads, lanes, b->waits + w * WARP);
            lanes = synchronized_lanes(l, b, w);
            publish(l, b, w, lanes, false);
        }
        b->ready[w] = 0;
    }
}

/* Count the threads of a block by the reason of their wait. Return whether all live threads are
 * at the same barrier. */
static bool count_waits(const Launch *l, const Block *b, int64_t counts[8]) {
    uint64_t barrier = 0, differing = 0;
    memset(counts, 0, 8 * sizeof *counts);
    if (all_equal(b->waits, l->threads)) {
        counts[b->waits[0] & REASON] = l->threads;
        return (b->waits[0] & REASON) == WAIT_BLOCK;
    }
    for (int64_t i = 0; i < l->threads; i++) {
        counts[b->waits[i] & REASON]++;
        if (!(b->waits[i] & REASON)) continue;
        if (!barrier) barrier = b->waits[i];
        /* the mask is from an earlier wait */
        differing |= (b->waits[i] ^ barrier) & ~SUSPENSION_POINT & UINT32_MAX;
    }
    return (barrier & REASON) == WAIT_BLOCK && !differing;
}

static void release_threads(const Launch *l, Block *b, uint64_t reason) {
    bool is_first = true;
    for (int64_t w = 0; w < l->warps; w++) {
        const uint64_t *waits = b->waits + w * WARP;
        const bool all = (waits[0] & REASON) == reason && all_equal(waits, WARP);
        b->ready[w] = (all ? UINT32_MAX : lanes_with(waits, reason)) & lanes_of(l, w);
        if (reason == WAIT_YIELD || !b->ready[w]) continue;
        publish(l, b, w, b->ready[w], is_first);
        is_first = false;
    }
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i + sizeof hash <= size; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_waits(const Launch *l, const Block *b) {
    return hash_bytes(1, b->waits, l->threads * sizeof *b->waits);
}

/* Let the polling threads of a block poll once. Return whether one has made progress. If none
 * has, which is the common case, nothing else is to be done. */
static bool poll_once(const Launch *l, Block *b) {
    bool is_new = false;
    for (int64_t w = 0; w < l->warps; w++) {
        uint64_t before[WARP], *waits = b->waits + w * WARP;
        if (!b->ready[w]) continue;
        memcpy(before, waits, sizeof before);
        char *threads = b->threads + w * WARP * l->kernel->thread_size;
        l->kernel->run(l->arguments, b->shared, threads, b->ready[w], waits);
        if (!memcmp(before, waits, sizeof before)) continue;
        is_new = true;
        b->ready[w] = synchronized_lanes(l, b, w);
        publish(l, b, w, b->ready[w], false);
    }
    return is_new;
}

static bool poll(const Launch *l, Block *b, int max_polls) {
    for (int turn = 0; turn < max_polls; turn++, b->polls++)
        if (poll_once(l, b)) return true;
    return false;
}

/* Run a block until it can make no progress by itself. */
static enum status run_block(const Launch *l, Block *b, int max_polls) {
    int64_t counts[8];
    for (int turns = 0; turns < MAX_STEPS;) {
        if (b->is_polling) {
            if (!poll(l, b, max_polls)) return POLLING;
            turns++;
            max_polls = MAX_POLLS;
        }
        b->is_polling = false;
        b->waits_changed = true;
        run_warps(l, b);
        const bool at_barrier = count_waits(l, b, counts);
        const int64_t live = l->threads - counts[ENDED];
        if (live == 0) return FINISHED;
        if (at_barrier) {
            release_threads(l, b, WAIT_BLOCK);
            continue;
        }
        if (counts[WAIT_CLUSTER] == live) return AT_CLUSTER;
        if (counts[WAIT_YIELD] == 0) return counts[WAIT_GRID] == live ? AT_GRID : DEADLOCKED;
        release_threads(l, b, WAIT_YIELD);
        b->is_polling = true;
    }
    return POLLING;
}

/* ---- a cluster ---- */

/* Run each block that can proceed once, and count the blocks by status. */
static void run_blocks(const Launch *l, Cluster *c, int64_t counts[DEADLOCKED + 1]) {
    memset(counts, 0, (DEADLOCKED + 1) * sizeof *counts);
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++) {
        Block *b = c->blocks[rank];
        if (b->status == POLLING) b->status = run_block(l, b, c->max_polls);
        counts[b->status]++;
    }
}

static void release_blocks(const Launch *l, Cluster *c, uint64_t reason) {
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++) {
        Block *b = c->blocks[rank];
        if (b->status == FINISHED) continue;
        release_threads(l, b, reason);
        b->status = POLLING;
    }
}

/* Run a cluster until it can make no progress by itself. */
static enum status run_cluster(const Launch *l, Cluster *c) {
    int64_t counts[DEADLOCKED + 1];
    for (int round = 0;;) {
        run_blocks(l, c, counts);
        const int64_t live = l->cluster_blocks - counts[FINISHED];
        if (live == 0) return FINISHED;
        if (counts[AT_CLUSTER] == live) {
            release_blocks(l, c, WAIT_CLUSTER);
            continue;
        }
        if (counts[DEADLOCKED]) return DEADLOCKED;
        if (!counts[POLLING]) return counts[AT_GRID] == live ? AT_GRID : DEADLOCKED;
        if (l->cluster_blocks == 1 || ++round == CLUSTER_ROUNDS) return POLLING;
    }
}

/* ---- reports of deadlocks ---- */

static void report_block(Launch *l, const Block *b) {
    atomic_store(&l->code, DEADLOCK_CODE);
    while (atomic_flag_test_and_set(&l->reporting)) continue;
    struct report *r = l->report;
    if (r->count < MAX_REPORTED) {
        r->blocks[r->count].number = b->number;
        memcpy(r->blocks[r->count++].waits, b->waits, l->threads * sizeof *b->waits);
    }
    atomic_flag_clear(&l->reporting);
}

static void report_cluster(Launch *l, const Cluster *c) {
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++)
        if (c->blocks[rank]->status != FINISHED) report_block(l, c->blocks[rank]);
}
