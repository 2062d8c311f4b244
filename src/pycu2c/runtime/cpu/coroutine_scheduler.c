/* Runs kernels whose threads go in steps, from one wait to the next (codegen/coroutines.py, whose text
 * of the interface comes before this one).
 *
 * A block's threads are run warp by warp until nobody can go on; then whoever has met the others is
 * let go. The blocks of a cluster are run by one OS thread, one after the other, each as far as it
 * comes; where a kernel has none, each block is a cluster. What no thread can end is reported, never
 * waited for. Launches are in parking.c, which comes after this text.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WARP = 32,
    LINE = 64,        /* bytes, by which memory is aligned */
    MANY_TURNS = 64,  /* how often threads look in vain before others have their turn, */
    LEAST_TURNS = 2,  /* how often if others before them have looked in vain, */
    ONE_TURN = 1,     /* and how often if it is only seen whether they can go on by now */
    MOST_TURNS = 256, /* of a block that comes further by each, before others have theirs */
    ROUNDS = 16,      /* of the blocks of a cluster, while some look in vain */
    STILL_PHASES = 3, /* that change nothing before a launch is given up */
    STUCK_CODE = 64,
    MEMORY_CODE = 65,
    MOST_THREADS = 1024,
    MOST_TOLD = 8 /* blocks */
};
#define REASON ((uint64_t)7)
#define PLACE (((uint64_t)1 << WHAT) - 8)
#define MASK(wait) ((uint32_t)((wait) >> 32))

typedef int (*Parallel)(void (*)(const void *, int64_t, int64_t), const void *, int64_t);

typedef void (*Calls)(const void *);

static Parallel parallel;
static Calls calls;

/* What every launch's arguments begin with. */
struct head {
    int32_t gridDim[3], blockDim[3];
    int64_t shared_bytes; /* dynamic shared memory of a block, behind what all its blocks have */
};

/* What a launch tells: how often blocks have looked at memory in vain; if it is stuck, some that
 * cannot end, and where their threads wait. */
static _Thread_local struct report {
    int64_t looks, count;
    struct {
        int64_t number;
        uint64_t waits[MOST_THREADS];
    } blocks[MOST_TOLD];
} report;

/* The memory that kernels are given, in which blocks may look for each other's signs. */
struct region {
    const char *begin;
    int64_t size;
};
static _Thread_local const struct region *regions;
static _Thread_local int64_t region_count;

enum status { ENDS, AT_CLUSTER, AT_GRID, LOOKS, STUCK };

/* A block on its way. `ready` has the lanes of each warp that can go on, `waits` why each thread
 * has stopped. */
typedef struct {
    int64_t number;
    enum status status;
    bool is_looking; /* its ready threads are those that look at memory */
    bool has_moved;  /* some thread has come further since that was last asked */
    uint64_t seen;   /* what the threads waited for then */
    int64_t looks;   /* in vain, since that was last asked */
    uint32_t *ready;
    uint64_t *waits;
    char *shared, *threads;
} Block;

/* Blocks that run together, by their numbers in the cluster. */
typedef struct {
    enum status status;
    int patience; /* how often its threads look in vain */
    Block *blocks[MOST_TOGETHER];
    void *shared[MOST_TOGETHER]; /* of each block */
} Cluster;

/* What several OS threads write often, on lines of its own. */
typedef struct {
    _Alignas(LINE) atomic_int_fast64_t count;
} Counter;

typedef struct {
    const struct resumable_kernel *kernel;
    const void *arguments;
    int64_t together;       /* blocks of a cluster */
    int64_t threads, warps; /* of a block */
    int64_t shared_size, shared_room; /* the latter if a block takes more than it is given */
    atomic_int code; /* why the launch ends early, 0 if it does not */
    atomic_flag reporting;
    struct report *report;
    const struct region *regions; /* of this launch: a signal's handler may start another */
    int64_t region_count;
    struct parking *parking; /* of a kernel that parks */
} Launch;

/* ---- memory ---- */

static size_t rounded(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

/* What lies before a block's shared memory. */
static size_t own_size(const Launch *l) {
    const size_t ready = rounded(l->warps * sizeof(uint32_t));
    const size_t waits = rounded(l->warps * WARP * sizeof(uint64_t));
    const size_t threads = rounded(l->threads * l->kernel->thread_size);
    return rounded(sizeof(Block)) + ready + waits + threads;
}

static size_t block_size(const Launch *l) { return own_size(l) + rounded(l->shared_room); }

static size_t cluster_size(const Launch *l) {
    return rounded(sizeof(Cluster)) + l->together * block_size(l);
}

static uint32_t lanes_of(const Launch *l, int64_t warp) {
    const int64_t left = l->threads - warp * WARP;
    return left >= WARP ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

/* A block with all its threads at their beginning, in memory of `block_size`. */
static Block *begun(const Launch *l, int64_t number, void *memory) {
    Block *b = memory;
    char *next = (char *)memory + rounded(sizeof *b);
    b->number = number;
    b->status = LOOKS;
    b->is_looking = false;
    b->has_moved = false;
    b->seen = 0;
    b->looks = 0;
    b->ready = (uint32_t *)next;
    next += rounded(l->warps * sizeof *b->ready);
    b->waits = (uint64_t *)next;
    next += rounded(l->warps * WARP * sizeof *b->waits);
    b->threads = next;
    b->shared = (char *)memory + own_size(l);
    for (int64_t w = 0; w < l->warps; w++) b->ready[w] = lanes_of(l, w);
    memset(b->waits, 0, l->warps * WARP * sizeof *b->waits);
    l->kernel->begin(l->arguments, number, b->shared, b->threads);
    return b;
}

/* The number of a block in the grid, from its cluster and its number in that. */
static int64_t number_of(const Launch *l, int64_t cluster, int64_t rank) {
    const int32_t *size = l->kernel->cluster;
    const int32_t *grid = ((const struct head *)l->arguments)->gridDim;
    const int64_t row = grid[0] / size[0], rows = grid[1] / size[1];
    const int64_t x = cluster % row * size[0] + rank % size[0];
    const int64_t y = cluster / row % rows * size[1] + rank / size[0] % size[1];
    const int64_t z = cluster / row / rows * size[2] + rank / size[0] / size[1];
    return x + grid[0] * (y + grid[1] * z);
}

/* A cluster with all its blocks at their beginning, in memory of `cluster_size`. */
static Cluster *begun_cluster(const Launch *l, int64_t number, void *memory) {
    Cluster *c = memory;
    char *next = (char *)memory + rounded(sizeof *c);
    c->patience = MANY_TURNS;
    for (int64_t rank = 0; rank < l->together; rank++, next += block_size(l)) {
        c->blocks[rank] = begun(l, number_of(l, number, rank), next);
        c->shared[rank] = c->blocks[rank]->shared;
    }
    for (int64_t rank = 0; l->kernel->join && rank < l->together; rank++)
        l->kernel->join(c->shared[rank], c->shared);
    return c;
}

/* Memory for one cluster after the other, kept by each worker as long as it lives. */
static void *own_memory(size_t size) {
    static _Thread_local void *memory = NULL;
    static _Thread_local size_t has = 0;
    if (has < size) {
        void *const old = memory;
        has = 0;
        atomic_signal_fence(memory_order_seq_cst); /* the launch may end here, by leaving.c */
        free(old);
        memory = aligned_alloc(LINE, size);
        atomic_signal_fence(memory_order_seq_cst);
        if (memory) has = size;
    }
    return memory;
}

/* ---- one block ---- */

/* Whether some threads all wait for the same: the usual case, and soon seen. */
static bool are_alike(const uint64_t *waits, int64_t count) {
    uint64_t differing = 0;
    for (int64_t i = 1; i < count; i++) differing |= waits[i] ^ waits[0];
    return !differing;
}

/* The lanes of a warp whose waits are of one kind, or have ended. */
static uint32_t lanes_that(const uint64_t *waits, uint64_t reason) {
    uint32_t found = 0;
    for (int lane = 0; lane < WARP; lane++)
        found |= (uint32_t)((waits[lane] & REASON) == reason) << lane;
    return found;
}

/* The lanes that wait for what lane `lane` does, too: by the same function with the same mask, or
 * at the same place, if that is what is asked. */
static uint32_t lanes_like(const uint64_t *waits, int lane) {
    const uint64_t own = waits[lane];
    const uint64_t what = (own & REASON) == WAIT_ACTIVE ? ~(uint64_t)0 : ~PLACE;
    uint32_t found = 0;
    for (int other = 0; other < WARP; other++)
        found |= (uint32_t)(((waits[other] ^ own) & what) == 0) << other;
    return found;
}

static void show(const Launch *l, Block *b, int64_t warp, uint32_t lanes, bool is_first) {
    if (!l->kernel->show || !lanes) return;
    char *threads = b->threads + warp * WARP * l->kernel->thread_size;
    l->kernel->show(b->shared, threads, warp, lanes, is_first);
}

/* The lanes of a warp that have met all whom they wait for. */
static uint32_t met(const Launch *l, Block *b, int64_t warp) {
    const uint64_t *waits = b->waits + warp * WARP, reason = waits[0] & REASON;
    const uint32_t all = lanes_of(l, warp);
    if (are_alike(waits, __builtin_popcount(all))) {
        const bool lanes_only =
            reason == WAIT_WARP || reason == WAIT_SYNCWARP || reason == WAIT_ACTIVE;
        return lanes_only ? all : 0;
    }
    const uint32_t live = ~lanes_that(waits, ENDED) & all;
    uint32_t waiting = lanes_that(waits, WAIT_WARP) | lanes_that(waits, WAIT_SYNCWARP);
    uint32_t found = 0;
    while (waiting) {
        const int lane = __builtin_ctz(waiting);
        const uint32_t same = lanes_like(waits, lane);
        waiting &= ~same;
        if (!(MASK(waits[lane]) & live & ~same)) found |= same;
    }
    if (found) return found;
    const uint32_t active = lanes_that(waits, WAIT_ACTIVE); /* nobody else will come */
    return active ? lanes_like(waits, __builtin_ctz(active)) : 0;
}

/* Runs every warp until it cannot go on by itself. */
static void run_warps(const Launch *l, Block *b) {
    const struct resumable_kernel *kernel = l->kernel;
    for (int64_t w = 0; w < l->warps; w++) {
        char *threads = b->threads + w * WARP * kernel->thread_size;
        for (uint32_t lanes = b->ready[w]; lanes;) {
            kernel->run(l->arguments, b->shared, threads, lanes, b->waits + w * WARP);
            lanes = met(l, b, w);
            show(l, b, w, lanes, false);
        }
        b->ready[w] = 0;
    }
}

/* How many threads of a block there are of each kind; whether those who have not ended have met at
 * a barrier. */
static bool tally(const Launch *l, const Block *b, int64_t counts[8]) {
    uint64_t met_by = 0, differing = 0;
    memset(counts, 0, 8 * sizeof *counts);
    if (are_alike(b->waits, l->threads)) {
        counts[b->waits[0] & REASON] = l->threads;
        return (b->waits[0] & REASON) == WAIT_BLOCK;
    }
    for (int64_t i = 0; i < l->threads; i++) {
        counts[b->waits[i] & REASON]++;
        if (!(b->waits[i] & REASON)) continue;
        if (!met_by) met_by = b->waits[i];
        differing |= (b->waits[i] ^ met_by) & ~PLACE & UINT32_MAX; /* masks are of older waits */
    }
    return (met_by & REASON) == WAIT_BLOCK && !differing;
}

static void let_go(const Launch *l, Block *b, uint64_t reason) {
    bool is_first = true;
    for (int64_t w = 0; w < l->warps; w++) {
        const uint64_t *waits = b->waits + w * WARP;
        const bool all = (waits[0] & REASON) == reason && are_alike(waits, WARP);
        b->ready[w] = (all ? UINT32_MAX : lanes_that(waits, reason)) & lanes_of(l, w);
        if (reason == WAIT_YIELD || !b->ready[w]) continue;
        show(l, b, w, b->ready[w], is_first);
        is_first = false;
    }
}

static uint64_t mixed(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i + sizeof hash <= size; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, (const char *)bytes + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t waits_of(const Launch *l, const Block *b) {
    return mixed(1, b->waits, l->threads * sizeof *b->waits);
}

/* Lets the threads of a block that look at memory look once; whether one has come further. Where all
 * look in vain, which is usual, nothing else has to be done. */
static bool sees_news(const Launch *l, Block *b) {
    bool is_new = false;
    for (int64_t w = 0; w < l->warps; w++) {
        uint64_t before[WARP], *waits = b->waits + w * WARP;
        if (!b->ready[w]) continue;
        memcpy(before, waits, sizeof before);
        char *threads = b->threads + w * WARP * l->kernel->thread_size;
        l->kernel->run(l->arguments, b->shared, threads, b->ready[w], waits);
        if (!memcmp(before, waits, sizeof before)) continue;
        is_new = true;
        b->ready[w] = met(l, b, w);
        show(l, b, w, b->ready[w], false);
    }
    return is_new;
}

static bool sees_news_soon(const Launch *l, Block *b, int patience) {
    for (int turn = 0; turn < patience; turn++, b->looks++)
        if (sees_news(l, b)) return true;
    return false;
}

/* Runs a block as far as it comes. */
static enum status run_block(const Launch *l, Block *b, int patience) {
    int64_t counts[8];
    for (int turns = 0; turns < MOST_TURNS;) {
        if (b->is_looking) {
            if (!sees_news_soon(l, b, patience)) return LOOKS;
            turns++;
            patience = MANY_TURNS;
        }
        b->is_looking = false;
        b->has_moved = true;
        run_warps(l, b);
        const bool have_met = tally(l, b, counts);
        const int64_t live = l->threads - counts[ENDED];
        if (live == 0) return ENDS;
        if (have_met) {
            let_go(l, b, WAIT_BLOCK);
            continue;
        }
        if (counts[WAIT_CLUSTER] == live) return AT_CLUSTER;
        if (counts[WAIT_YIELD] == 0) return counts[WAIT_GRID] == live ? AT_GRID : STUCK;
        let_go(l, b, WAIT_YIELD);
        b->is_looking = true;
    }
    return LOOKS;
}

/* ---- a cluster ---- */

/* Runs once every block that can go on; how many there are then of each status. */
static void run_blocks(const Launch *l, Cluster *c, int64_t counts[STUCK + 1]) {
    memset(counts, 0, (STUCK + 1) * sizeof *counts);
    for (int64_t rank = 0; rank < l->together; rank++) {
        Block *b = c->blocks[rank];
        if (b->status == LOOKS) b->status = run_block(l, b, c->patience);
        counts[b->status]++;
    }
}

static void let_blocks_go(const Launch *l, Cluster *c, uint64_t reason) {
    for (int64_t rank = 0; rank < l->together; rank++) {
        Block *b = c->blocks[rank];
        if (b->status == ENDS) continue;
        let_go(l, b, reason);
        b->status = LOOKS;
    }
}

/* Runs a cluster as far as it comes. */
static enum status run_cluster(const Launch *l, Cluster *c) {
    int64_t counts[STUCK + 1];
    for (int round = 0;;) {
        run_blocks(l, c, counts);
        const int64_t live = l->together - counts[ENDS];
        if (live == 0) return ENDS;
        if (counts[AT_CLUSTER] == live) {
            let_blocks_go(l, c, WAIT_CLUSTER);
            continue;
        }
        if (counts[STUCK]) return STUCK;
        if (!counts[LOOKS]) return counts[AT_GRID] == live ? AT_GRID : STUCK;
        if (l->together == 1 || ++round == ROUNDS) return LOOKS;
    }
}

/* ---- what is told of those that are stuck ---- */

static void tell_block(Launch *l, const Block *b) {
    atomic_store(&l->code, STUCK_CODE);
    while (atomic_flag_test_and_set(&l->reporting)) continue;
    struct report *r = l->report;
    if (r->count < MOST_TOLD) {
        r->blocks[r->count].number = b->number;
        memcpy(r->blocks[r->count++].waits, b->waits, l->threads * sizeof *b->waits);
    }
    atomic_flag_clear(&l->reporting);
}

static void tell(Launch *l, const Cluster *c) {
    for (int64_t rank = 0; rank < l->together; rank++)
        if (c->blocks[rank]->status != ENDS) tell_block(l, c->blocks[rank]);
}
