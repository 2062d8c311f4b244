/* Runs blocks of threads that synchronize: each thread has its own stack, and a thread that waits
 * switches to the next. A user's library defines the threads (compat/cuda_text/headers/);
 * pycu2c_parallel distributes blocks to OS threads.
 *
 * A block runs in one OS thread. Its threads start in order. A thread that ends leaves its stack to
 * the next, so that threads that never wait cost one call each. Words of 32 lanes have the ready
 * threads. If no thread is ready, the launch ends and reports where each thread waits: a deadlock.
 */
enum {
    WARP = 32,
    MOST_THREADS = 1024,
    WARPS = MOST_THREADS / WARP,
    AHEAD = 2, /* threads ahead whose saved registers are prefetched */
    STUCK_CODE = 64, /* as in runtime/cpu/fibers.py */
    MEMORY_CODE = 65,
    ASSERT_CODE = 66,
    TRAP_CODE = 67,
    MOST_TOLD = 8 /* blocks */
};

/* ---- declarations of a user's library, for each kernel ---- */

typedef struct {
    void (*begin)(const void *arguments, int64_t block); /* starts a block in the calling OS thread */
    void (*thread)(int32_t index);                       /* runs one of its threads */
    const int32_t *parameters;
    void (*run)(const void *arguments, int64_t first, int64_t last); /* runs blocks of a split kernel */
} Kernel;

typedef void (*Combine)(void **given, uint32_t lanes);

enum { NONE, AT_BLOCK, AT_WARP, AT_ACTIVE, AT_GRID }; /* the kind of synchronization */

typedef struct {
    Saved saved;
    Stack *stack; /* null: not started */
    Combine combine;
    void *given;
    uint32_t mask;
    int32_t line;
    int32_t at;
} Fiber;

/* The threads of a block. By warp: the lanes that are ready, live, waiting. */
typedef struct BlockState {
    Fiber fibers[MOST_THREADS];
    Saved outside;
    const Kernel *kernel;
    uint32_t ready[WARPS], alive[WARPS], yielded[WARPS];
    uint32_t at_block[WARPS], at_warp[WARPS], at_active[WARPS], at_grid[WARPS];
    uint32_t ready_warps, warps, yields;
    int32_t current, threads, left, arrived, arrived_at_grid;
    int32_t count, count_was;               /* of the current barrier, and of the previous one */
    int32_t status;
} BlockState;

enum { RUNS, ENDED, STUCK, GRID };

typedef struct {
    int64_t number;
    uint64_t waits[MOST_THREADS]; /* kind in 3 bits, line in 29 bits, mask of a warp operation */
} BlockReport;

static struct {
    int64_t count;
    BlockReport blocks[MOST_TOLD];
} report;
static pthread_mutex_t report_mutex = PTHREAD_MUTEX_INITIALIZER;

typedef struct Launch {
    const Kernel *kernel;
    const void *arguments;
    int32_t threads;
    atomic_int code;
} Launch;

static _Thread_local BlockState *current_block;     /* of the block that this OS thread runs */
static _Thread_local BlockState *reused_block; /* which it reuses */
static _Thread_local Launch *launch;

/* ---- scheduling ---- */

static uint32_t bit(int32_t thread) { return UINT32_C(1) << ((uint32_t)thread % WARP); }

static void make_ready(BlockState *r, int32_t warp, uint32_t lanes) {
    r->ready[warp] |= lanes;
    if (r->ready[warp]) r->ready_warps |= UINT32_C(1) << warp;
}

static void release_yielded(BlockState *r) {
    for (uint32_t warps = r->yields; warps; warps &= warps - 1) {
        int32_t w = __builtin_ctz(warps);
        make_ready(r, w, r->yielded[w]);
        r->yielded[w] = 0;
    }
    r->yields = 0;
}

/* Lanes that wait for the active mask while all others of their warp wait or have ended: lanes on
 * the same line form a group. */
static bool release_active(BlockState *r) {
    bool some = false;
    for (uint32_t w = 0; w < r->warps; w++) {
        uint32_t asking = r->at_active[w];
        if (!asking) continue;
        Fiber *first = &r->fibers[w * WARP + __builtin_ctz(asking)];
        uint32_t group = 0;
        for (uint32_t rest = asking; rest; rest &= rest - 1) {
            Fiber *f = &r->fibers[w * WARP + __builtin_ctz(rest)];
            if (f->line == first->line) group |= rest & -rest;
        }
        for (uint32_t rest = group; rest; rest &= rest - 1)
            r->fibers[w * WARP + __builtin_ctz(rest)].mask = group;
        r->at_active[w] &= ~group;
        make_ready(r, w, group);
        some = true;
    }
    return some;
}

/* Return whether a thread that has yielded is ready. */
static bool has_more(BlockState *r) {
    if (release_active(r)) return true;
    if (!r->yields) return false;
    release_yielded(r);
    return true;
}

/* Return the next ready thread, which is then not ready any more; -1 if there is none. */
HERE static inline int32_t next_thread(BlockState *r) {
    for (;;) {
        int32_t w = (int32_t)((uint32_t)r->current / WARP);
        if (!r->ready[w]) {
            if (!r->ready_warps) {
                if (!has_more(r)) return -1;
                continue;
            }
            w = __builtin_ctz(r->ready_warps);
        }
        int32_t lane = __builtin_ctz(r->ready[w]);
        r->ready[w] &= r->ready[w] - 1;
        if (!r->ready[w]) r->ready_warps &= ~(UINT32_C(1) << w);
        return w * WARP + lane;
    }
}

static void finish_block(BlockState *r) {
    if (r->left == 0) r->status = ENDED;
    else if (r->arrived_at_grid == r->left) r->status = GRID;
    else r->status = STUCK;
}

/* Switch to another thread, from a stack or from outside. Returns when this one is resumed. */
HERE static inline void leave(BlockState *r, Saved *from) {
    int32_t next = next_thread(r);
    if (next < 0) {
        finish_block(r);
        go(from, &r->outside);
        return;
    }
    Fiber *f = &r->fibers[next];
    if (!f->stack) {
        f->stack = take_stack();
        if (!f->stack) {
            atomic_store(&launch->code, MEMORY_CODE);
            r->status = STUCK;
            go(from, &r->outside);
            return;
        }
        prepare(&f->saved, f->stack);
    }
    r->current = next;
    fetch(&r->fibers[(next + AHEAD) % MOST_THREADS].saved);
    go(from, &f->saved);
}

static void release_block(BlockState *r) {
    for (uint32_t w = 0; w < r->warps; w++) {
        make_ready(r, (int32_t)w, r->at_block[w]);
        r->at_block[w] = 0;
    }
    r->count_was = r->count;
    r->arrived = r->count = 0;
}

/* Release the lanes of a warp whose synchronization with lane `lane` is complete; return whether it
 * is. */
static bool release_warp(BlockState *r, int32_t thread) {
    int32_t w = thread / WARP;
    const Fiber *one = &r->fibers[thread];
    uint32_t lanes = one->mask & r->alive[w];
    void *given[WARP];
    if ((r->at_warp[w] & lanes) != lanes) return false;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const Fiber *f = &r->fibers[w * WARP + __builtin_ctz(rest)];
        if (f->mask != one->mask || f->combine != one->combine) return false;
        given[__builtin_ctz(rest)] = f->given;
    }
    if (one->combine) one->combine(given, lanes);
    r->at_warp[w] &= ~lanes;
    make_ready(r, w, lanes);
    return true;
}

/* A thread has ended: others may have waited only for it. */
static void note_end(BlockState *r) {
    int32_t w = r->current / WARP;
    r->alive[w] &= ~bit(r->current);
    r->left--;
    if (r->left && r->arrived == r->left) release_block(r);
    for (uint32_t rest = r->at_warp[w]; rest; rest &= rest - 1) {
        int32_t lane = __builtin_ctz(rest);
        if (r->at_warp[w] >> lane & 1) release_warp(r, w * WARP + lane);
    }
}

/* The main function of a stack: runs threads until a started one is to be resumed. A launch may be left
 * between any two instructions (interrupt.c); then a stack may leak but is never shared. */
static void begin_fiber(void) {
    for (;;) {
        BlockState *r = current_block;
        r->kernel->thread(r->current);
        Fiber *mine = &r->fibers[r->current];
        Stack *stack = mine->stack;
        mine->stack = 0;
        atomic_signal_fence(memory_order_seq_cst);
        note_end(r);
        int32_t next = next_thread(r);
        if (next >= 0 && !r->fibers[next].stack) {
            r->fibers[next].stack = stack;
            r->current = next;
            continue;
        }
        give_stack(stack);
        Saved nobody;
        if (next < 0) {
            finish_block(r);
            go(&nobody, &r->outside);
        }
        r->current = next;
        go(&nobody, &r->fibers[next].saved);
    }
}

/* ---- services for threads ---- */

HERE static inline void wait_here(BlockState *r, int32_t at, int32_t line) {
    int32_t me = r->current;
    Fiber *f = &r->fibers[me];
    f->at = at;
    f->line = line;
    leave(r, &f->saved);
    f->at = NONE;
}

/* A barrier of the block; returns the number of threads whose condition holds. */
static int32_t sync_block(int32_t condition, int32_t line) {
    BlockState *r = current_block;
    r->arrived++;
    r->count += condition != 0;
    if (r->arrived == r->left) {
        release_block(r);
    } else {
        r->at_block[r->current / WARP] |= bit(r->current);
        wait_here(r, AT_BLOCK, line);
    }
    return r->count_was;
}

/* Synchronize lanes of a warp; the last one combines the values. */
static void sync_warp(uint32_t mask, void *given, Combine combine, int32_t line) {
    BlockState *r = current_block;
    int32_t me = r->current, w = me / WARP;
    Fiber *f = &r->fibers[me];
    f->mask = mask;
    f->given = given;
    f->combine = combine;
    r->at_warp[w] |= bit(me);
    if ((mask & bit(me)) && release_warp(r, me)) {
        r->ready[w] &= ~bit(me);
        if (!r->ready[w]) r->ready_warps &= ~(UINT32_C(1) << w);
        return;
    }
    wait_here(r, AT_WARP, line);
}

static uint32_t active_lanes(int32_t line) {
    BlockState *r = current_block;
    Fiber *f = &r->fibers[r->current];
    r->at_active[r->current / WARP] |= bit(r->current);
    wait_here(r, AT_ACTIVE, line);
    return f->mask;
}

static void sync_grid(int32_t line) {
    BlockState *r = current_block;
    r->at_grid[r->current / WARP] |= bit(r->current);
    r->arrived_at_grid++;
    wait_here(r, AT_GRID, line);
}

/* Yield to other threads, for which this one may wait. */
static void yield_to_others(void) {
    BlockState *r = current_block;
    int32_t w = r->current / WARP;
    r->yielded[w] |= bit(r->current);
    r->yields |= UINT32_C(1) << w;
    wait_here(r, NONE, 0);
}

/* End the launch. */
static void fail(int32_t code) {
    BlockState *r = current_block;
    int none = 0;
    atomic_compare_exchange_strong(&launch->code, &none, code);
    r->status = STUCK;
    go(&r->fibers[r->current].saved, &r->outside);
}

typedef struct {
    int32_t (*sync_block)(int32_t condition, int32_t line);
    void (*sync_warp)(uint32_t mask, void *given, Combine combine, int32_t line);
    uint32_t (*active_lanes)(int32_t line);
    void (*sync_grid)(int32_t line);
    void (*yield)(void);
    void (*fail)(int32_t code);
    void (*stuck)(int64_t block, const unsigned char *waits, int32_t first, int32_t end, int32_t line);
} Services;

/* End the launch of a split kernel: some of these threads wait for lanes that never arrive. */
static void stuck(int64_t block, const unsigned char *waits, int32_t first, int32_t end, int32_t line) {
    int none = 0;
    if (!atomic_compare_exchange_strong(&launch->code, &none, STUCK_CODE)) return;
    pthread_mutex_lock(&report_mutex);
    if (report.count < MOST_TOLD) {
        BlockReport *told = &report.blocks[report.count++];
        told->number = block;
        memset(told->waits, 0, sizeof told->waits);
        uint64_t wait = UINT64_C(0xffffffff) << 32 | (uint64_t)(uint32_t)line << 3 | AT_WARP;
        for (int32_t i = first; i < end; i++) told->waits[i] = waits[i] ? wait : 0;
    }
    pthread_mutex_unlock(&report_mutex);
}

const Services pycu2c_services = {
    sync_block, sync_warp, active_lanes, sync_grid, yield_to_others, fail, stuck,
};

/* ---- blocks ---- */

static void init_block(BlockState *r, const Kernel *kernel, int32_t threads) {
    r->kernel = kernel;
    r->threads = r->left = threads;
    r->warps = (uint32_t)(threads + WARP - 1) / WARP;
    r->ready_warps = r->yields = 0;
    r->current = r->arrived = r->arrived_at_grid = r->count = 0;
    r->status = RUNS;
    for (uint32_t w = 0; w < r->warps; w++) {
        int32_t lanes = threads - (int32_t)w * WARP;
        r->alive[w] = lanes >= WARP ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
        r->yielded[w] = r->at_block[w] = r->at_warp[w] = r->at_active[w] = r->at_grid[w] = 0;
        r->ready[w] = 0;
        make_ready(r, (int32_t)w, r->alive[w]);
    }
}

/* Release the stacks of threads that have not ended. */
static void clear(BlockState *r) {
    for (int32_t i = 0; i < r->threads; i++) {
        Stack *stack = r->fibers[i].stack;
        r->fibers[i].stack = 0;
        atomic_signal_fence(memory_order_seq_cst);
        if (stack) give_stack(stack);
        r->fibers[i].at = NONE;
    }
}

static void report_block(const BlockState *r, int64_t number) {
    pthread_mutex_lock(&report_mutex);
    if (report.count < MOST_TOLD) {
        BlockReport *told = &report.blocks[report.count++];
        told->number = number;
        memset(told->waits, 0, sizeof told->waits);
        for (int32_t i = 0; i < r->threads; i++) {
            const Fiber *f = &r->fibers[i];
            if (!(r->alive[i / WARP] & bit(i)) || !f->at) continue;
            uint64_t mask = f->at == AT_WARP ? f->mask : 0;
            told->waits[i] = mask << 32 | (uint64_t)(uint32_t)f->line << 3 | (uint64_t)f->at;
        }
    }
    pthread_mutex_unlock(&report_mutex);
}

static void run_threads(BlockState *r) {
    current_block = r;
    r->status = RUNS;
    leave(r, &r->outside);
    current_block = 0;
}

static void run_blocks(const void *given, int64_t first, int64_t last) {
    Launch *l = (Launch *)given;
    launch = l;
    if (!reused_block) reused_block = calloc(1, sizeof *reused_block);
    if (!reused_block) atomic_store(&l->code, MEMORY_CODE);
    else clear(reused_block); /* a launch may have been left early */
    for (int64_t block = first; block < last && !atomic_load(&l->code); block++) {
        init_block(reused_block, l->kernel, l->threads);
        l->kernel->begin(l->arguments, block);
        run_threads(reused_block);
        if (reused_block->status == ENDED) continue;
        int none = 0;
        if (atomic_compare_exchange_strong(&l->code, &none, STUCK_CODE))
            report_block(reused_block, block);
        clear(reused_block);
    }
}
