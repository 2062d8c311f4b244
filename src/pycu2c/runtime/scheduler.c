/* Runs kernels whose threads go in steps, from one wait to the next (emit/resumable.py, whose text
 * of the interface comes before this one).
 *
 * A block's threads are run warp by warp until nobody can go on; then whoever has met the others is
 * let go. The blocks of a cluster are run by one OS thread, one after the other, each as far as it
 * comes; where a kernel has none, each block is a cluster. Clusters that wait for each other, at a
 * barrier of the grid or by a loop that looks at memory, are parked: a launch is then a row of
 * phases, in each of which every cluster that has not ended gets as far as it comes. What no thread
 * can end is reported, never waited for.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARP = 32,
    LINE = 64,        /* bytes, by which memory is aligned */
    MANY_TURNS = 64,  /* how often threads may look in vain before others have their turn, */
    FEW_TURNS = 4,    /* and how often if that was so before */
    ROUNDS = 16,      /* of the blocks of a cluster in a phase, while some look in vain */
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

/* What a stuck launch tells: some blocks that cannot end, and where their threads wait. */
static _Thread_local struct report {
    int64_t count;
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
    uint32_t *ready;
    uint64_t *waits;
    char *shared, *threads;
} Block;

/* Blocks that run together, by their numbers in the cluster. */
typedef struct {
    enum status status;
    bool is_still; /* its last phase has changed nothing of it */
    uint64_t seen; /* what it was like at the end of its last phase */
    Block *blocks[MOST_TOGETHER];
    void *shared[MOST_TOGETHER]; /* of each block */
} Cluster;

typedef struct {
    const struct resumable_kernel *kernel;
    const void *arguments;
    int64_t together;       /* blocks of a cluster */
    int64_t threads, warps; /* of a block */
    int64_t shared_size, shared_room; /* the latter if a block takes more than it is given */
    Cluster **parked;       /* the clusters of a launch that parks, NULL before they have begun */
    int64_t *unfinished;    /* their numbers */
    atomic_int code; /* why the launch ends early, 0 if it does not */
    atomic_bool changed;
    atomic_flag reporting;
    struct report *report;
    const struct region *regions; /* of this launch: a signal's handler may start another */
    int64_t region_count;
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
    c->is_still = false;
    c->seen = 0;
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
        if (reason == WAIT_TURN || !b->ready[w]) continue;
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

/* Runs a block as far as it comes. */
static enum status run_block(const Launch *l, Block *b, int patience) {
    int64_t counts[8];
    uint64_t before = 0;
    for (int in_vain = 0;;) {
        run_warps(l, b);
        const bool have_met = tally(l, b, counts);
        const int64_t live = l->threads - counts[ENDED];
        if (live == 0) return ENDS;
        if (have_met) {
            let_go(l, b, WAIT_BLOCK);
            continue;
        }
        if (counts[WAIT_CLUSTER] == live) return AT_CLUSTER;
        if (counts[WAIT_TURN] == 0) return counts[WAIT_GRID] == live ? AT_GRID : STUCK;
        const uint64_t now = waits_of(l, b);
        in_vain = now == before ? in_vain + 1 : 0;
        before = now;
        let_go(l, b, WAIT_TURN);
        if (in_vain == patience) return LOOKS;
    }
}

/* ---- a cluster ---- */

/* Runs once every block that can go on; how many there are then of each status. */
static void run_blocks(const Launch *l, Cluster *c, int64_t counts[STUCK + 1]) {
    memset(counts, 0, (STUCK + 1) * sizeof *counts);
    for (int64_t rank = 0; rank < l->together; rank++) {
        Block *b = c->blocks[rank];
        if (b->status == LOOKS) b->status = run_block(l, b, c->is_still ? FEW_TURNS : MANY_TURNS);
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

/* ---- a launch ---- */

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

/* Clusters that need no others: each is run to its end. */
static void run_to_end(const void *launch, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch;
    void *memory = own_memory(cluster_size(l));
    if (!memory) atomic_store(&l->code, MEMORY_CODE);
    for (int64_t number = first; number < last && !atomic_load(&l->code); number++) {
        Cluster *c = begun_cluster(l, number, memory);
        if (run_cluster(l, c) != ENDS) tell(l, c);
    }
}

/* What there is of a cluster, in one word. */
static uint64_t likeness(const Launch *l, const Cluster *c) {
    uint64_t hash = 1;
    for (int64_t rank = 0; rank < l->together; rank++) {
        const Block *b = c->blocks[rank];
        const uint64_t waits = waits_of(l, b);
        hash = mixed(hash, &waits, sizeof waits);
        hash = mixed(hash, b->shared, rounded(l->shared_size));
        hash = mixed(hash, b->threads, rounded(l->threads * l->kernel->thread_size));
    }
    return hash;
}

/* A cluster in memory of its own; NULL if there is none. */
static Cluster *parked(const Launch *l, int64_t number) {
    char *memory = aligned_alloc(LINE, cluster_size(l)), *next = memory;
    if (!memory) return NULL;
    next += rounded(sizeof(Cluster));
    for (int64_t rank = 0; rank < l->together; rank++, next += block_size(l))
        memset(next, 0, own_size(l) + rounded(l->shared_size));
    return begun_cluster(l, number, memory);
}

/* One phase of clusters that may wait for each other. */
static void run_phase(const void *launch, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch;
    for (int64_t i = first; i < last && !atomic_load(&l->code); i++) {
        const int64_t number = l->unfinished[i];
        Cluster *c = l->parked[number];
        if (!c) {
            c = l->parked[number] = parked(l, number);
            if (!c) {
                atomic_store(&l->code, MEMORY_CODE);
                return;
            }
        } else if (c->status == AT_GRID) {
            continue;
        }
        c->status = run_cluster(l, c);
        if (c->status == STUCK) tell(l, c);
        const uint64_t now = c->status == LOOKS ? likeness(l, c) : 0;
        c->is_still = c->status == LOOKS && now == c->seen;
        if (!c->is_still) atomic_store(&l->changed, true);
        c->seen = now;
    }
}

/* Drops the clusters that have ended; how many are left. They come in the opposite order now: a row
 * of blocks that wait for their successors, or for their predecessors, ends in a few phases. */
static int64_t without_ended(Launch *l, int64_t count) {
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = l->unfinished[i];
        if (l->parked[number]->status == ENDS) {
            free(l->parked[number]);
            l->parked[number] = NULL;
        } else {
            l->unfinished[left++] = number;
        }
    }
    for (int64_t i = 0; i < left / 2; i++) {
        const int64_t number = l->unfinished[i];
        l->unfinished[i] = l->unfinished[left - 1 - i];
        l->unfinished[left - 1 - i] = number;
    }
    return left;
}

static bool all_at_grid(const Launch *l, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (l->parked[l->unfinished[i]]->status != AT_GRID) return false;
    return true;
}

static uint64_t memory_now(const Launch *l) {
    uint64_t hash = 1;
    for (int64_t i = 0; i < l->region_count; i++) {
        const char *begin = l->regions[i].begin;
        const size_t words = l->regions[i].size / sizeof(uint64_t) * sizeof(uint64_t);
        uint64_t rest = 0;
        hash = mixed(hash, begin, words);
        memcpy(&rest, begin + words, l->regions[i].size - words);
        hash = mixed(hash, &rest, sizeof rest);
    }
    return hash;
}

static void let_grid_go(const Launch *l, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        Cluster *c = l->parked[l->unfinished[i]];
        let_blocks_go(l, c, WAIT_GRID);
        c->status = LOOKS;
    }
}

static int run_in_pool(void (*body)(const void *, int64_t, int64_t), Launch *l, int64_t count) {
    calls((const void *)(uintptr_t)l->kernel->run);
    return parallel(body, l, count);
}

static int run_phases(Launch *l, int64_t clusters) {
    int64_t left = clusters;
    uint64_t before = 0;
    for (int64_t i = 0; i < clusters; i++) l->unfinished[i] = i;
    for (int still = 0; left && !atomic_load(&l->code);) {
        atomic_store(&l->changed, false);
        const int ended = run_in_pool(run_phase, l, left);
        if (ended) return ended;
        if (atomic_load(&l->code)) break;
        left = without_ended(l, left);
        if (all_at_grid(l, left)) {
            let_grid_go(l, left);
        } else if (!atomic_load(&l->changed)) { /* if memory has not changed either, all is said */
            const uint64_t now = memory_now(l);
            still = now == before ? still + 1 : 0;
            before = now;
        }
        for (int64_t i = 0; still == STILL_PHASES && i < clusters; i++)
            if (l->parked[i]) tell(l, l->parked[i]);
    }
    return 0;
}

static int run_parked(Launch *l, int64_t clusters) {
    l->parked = calloc(clusters, sizeof *l->parked);
    l->unfinished = calloc(clusters, sizeof *l->unfinished);
    const bool has_memory = l->parked && l->unfinished;
    const int ended = has_memory ? run_phases(l, clusters) : MEMORY_CODE;
    for (int64_t i = 0; l->parked && i < clusters; i++) free(l->parked[i]);
    free(l->parked);
    free(l->unfinished);
    return ended;
}

/* Runs all blocks of a launch. 0; what the pool says of a run that it has ended early; STUCK_CODE
 * if some threads can never end; MEMORY_CODE if there is too little memory for them. */
int pycu2c_run_steps(const struct resumable_kernel *kernel, const void *arguments, int64_t blocks) {
    const struct head *head = arguments;
    Launch l = {.kernel = kernel, .arguments = arguments};
    l.together = (int64_t)kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2];
    l.threads = (int64_t)head->blockDim[0] * head->blockDim[1] * head->blockDim[2];
    l.warps = (l.threads + WARP - 1) / WARP;
    l.shared_size = kernel->shared_size + head->shared_bytes;
    l.shared_room = kernel->shared_size + (head->shared_bytes ? MOST_SHARED : 0);
    report.count = 0;
    l.report = &report;
    l.regions = regions;
    l.region_count = region_count;
    const int64_t clusters = blocks / l.together;
    const int ended =
        kernel->parks ? run_parked(&l, clusters) : run_in_pool(run_to_end, &l, clusters);
    return ended ? ended : atomic_load(&l.code);
}

/* Says what memory the next launch of the calling thread is given. */
void pycu2c_watch(const struct region *given, int64_t count) {
    regions = given;
    region_count = count;
}

/* What the last launch of the calling thread has told. */
const struct report *pycu2c_report(void) { return &report; }

/* Says what runs body(args, first, last) over pieces of 0 .. count: pycu2c_parallel; and what is to
 * know beforehand which kernel that calls: pycu2c_pool_calls. */
void pycu2c_steps_by(Parallel run, Calls call) {
    parallel = run;
    calls = call;
}
