/* Runs blocks of threads that synchronize: each thread has its own stack, and a thread that waits
 * switches to the next. A user's library defines the threads (compat/cuda_text/headers/);
 * pycu2c_parallel distributes blocks to OS threads.
 *
 * A block runs in one OS thread. Its threads start in order. The next thread takes over the stack of
 * a thread that has ended, so that threads that never wait cost one call each. The ready threads are
 * bits of one word per warp. If no thread is ready, the launch ends, and reports where each thread
 * waits: a deadlock.
 */
enum {
    WARP = 32,
    MAX_THREADS = 1024, /* of a block */
    MAX_WARPS = MAX_THREADS / WARP,
    PREFETCH_DISTANCE = 2, /* prefetch the saved registers of the thread after the next */
    DEADLOCK_CODE = 64, /* as in runtime/cpu/fibers.py */
    MEMORY_CODE = 65,
    ASSERT_CODE = 66,
    TRAP_CODE = 67,
    MAX_REPORTED = 8 /* blocks */
};

/* ---- declarations of a user's library, for each kernel ---- */

typedef struct {
    void (*begin)(const void *arguments, int64_t block); /* starts a block in the calling OS thread */
    void (*thread)(int32_t index);                       /* runs one of its threads */
    const int32_t *parameters;
} Kernel;

typedef void (*Combine)(void **values, uint32_t lanes);

enum { NONE, AT_BLOCK, AT_WARP, AT_ACTIVE, AT_GRID }; /* the kind of synchronization */

typedef struct {
    Context context;
    Stack *stack; /* NULL: not started */
    /* what the thread waits for: kind, line of the source, and of warp operations the mask, the
     * thread's value, and the function that combines the values of the lanes */
    Combine combine;
    void *value;
    uint32_t mask;
    int32_t line;
    int32_t at;
} Fiber;

/* The threads of a block. The arrays have a word per warp, with a bit per lane. */
typedef struct BlockState {
    Fiber fibers[MAX_THREADS];
    Context caller;
    const Kernel *kernel;
    uint32_t ready[MAX_WARPS], live[MAX_WARPS], yielded[MAX_WARPS];
    uint32_t at_block[MAX_WARPS], at_warp[MAX_WARPS], at_active[MAX_WARPS], at_grid[MAX_WARPS];
    uint32_t ready_warps, warps, yielded_warps;
    int32_t current, threads, left, arrived, arrived_at_grid; /* left: threads that have not ended */
    int32_t count, previous_count; /* true conditions at the current barrier, and at the previous one */
    int32_t status;
} BlockState;

enum { RUNS, ENDED, DEADLOCKED, GRID };

typedef struct {
    int64_t number;
    uint64_t waits[MAX_THREADS]; /* kind in 3 bits, line in 29 bits, mask of a warp operation */
} BlockReport;

static struct {
    int64_t count;
    BlockReport blocks[MAX_REPORTED];
} report;
static pthread_mutex_t report_mutex = PTHREAD_MUTEX_INITIALIZER;

typedef struct Launch {
    const Kernel *kernel;
    const void *arguments;
    int32_t threads;
    atomic_int code;
} Launch;

static _Thread_local BlockState *current_block; /* the block that this OS thread runs */
static _Thread_local BlockState *reused_block;  /* memory for its blocks */
static _Thread_local Launch *launch;

/* ---- scheduling ---- */

static uint32_t bit(int32_t thread) { return UINT32_C(1) << ((uint32_t)thread % WARP); }

static void make_ready(BlockState *b, int32_t warp, uint32_t lanes) {
    b->ready[warp] |= lanes;
    if (b->ready[warp]) b->ready_warps |= UINT32_C(1) << warp;
}

static void release_yielded(BlockState *b) {
    for (uint32_t warps = b->yielded_warps; warps; warps &= warps - 1) {
        int32_t w = __builtin_ctz(warps);
        make_ready(b, w, b->yielded[w]);
        b->yielded[w] = 0;
    }
    b->yielded_warps = 0;
}

/* Release lanes that wait for the active mask, when no thread is ready. In each warp, the lanes on the
 * line of the first one form the mask. Return whether there were any. */
static bool release_active(BlockState *b) {
    bool released = false;
    for (uint32_t w = 0; w < b->warps; w++) {
        uint32_t waiting = b->at_active[w];
        if (!waiting) continue;
        Fiber *first = &b->fibers[w * WARP + __builtin_ctz(waiting)];
        uint32_t group = 0;
        for (uint32_t rest = waiting; rest; rest &= rest - 1) {
            Fiber *f = &b->fibers[w * WARP + __builtin_ctz(rest)];
            if (f->line == first->line) group |= rest & -rest;
        }
        for (uint32_t rest = group; rest; rest &= rest - 1)
            b->fibers[w * WARP + __builtin_ctz(rest)].mask = group;
        b->at_active[w] &= ~group;
        make_ready(b, w, group);
        released = true;
    }
    return released;
}

/* Release threads that yielded or wait for the active mask; return whether there were any. */
static bool release_some(BlockState *b) {
    if (release_active(b)) return true;
    if (!b->yielded_warps) return false;
    release_yielded(b);
    return true;
}

/* Return the next ready thread, which is then not ready any more; -1 if there is none. */
ALWAYS_INLINE static inline int32_t next_thread(BlockState *b) {
    for (;;) {
        int32_t w = (int32_t)((uint32_t)b->current / WARP);
        if (!b->ready[w]) {
            if (!b->ready_warps) {
                if (!release_some(b)) return -1;
                continue;
            }
            w = __builtin_ctz(b->ready_warps);
        }
        int32_t lane = __builtin_ctz(b->ready[w]);
        b->ready[w] &= b->ready[w] - 1;
        if (!b->ready[w]) b->ready_warps &= ~(UINT32_C(1) << w);
        return w * WARP + lane;
    }
}

static void finish_block(BlockState *b) {
    if (b->left == 0) b->status = ENDED;
    else if (b->arrived_at_grid == b->left) b->status = GRID;
    else b->status = DEADLOCKED;
}

/* Switch to another thread, from a thread or from the caller of the block. Returns when `from` is
 * resumed. */
ALWAYS_INLINE static inline void switch_to_next(BlockState *b, Context *from) {
    int32_t next = next_thread(b);
    if (next < 0) {
        finish_block(b);
        switch_context(from, &b->caller);
        return;
    }
    Fiber *f = &b->fibers[next];
    if (!f->stack) {
        f->stack = acquire_stack();
        if (!f->stack) {
            atomic_store(&launch->code, MEMORY_CODE);
            b->status = DEADLOCKED;
            switch_context(from, &b->caller);
            return;
        }
        prepare(&f->context, f->stack);
    }
    b->current = next;
    prefetch_context(&b->fibers[(next + PREFETCH_DISTANCE) % MAX_THREADS].context);
    switch_context(from, &f->context);
}

static void release_block(BlockState *b) {
    for (uint32_t w = 0; w < b->warps; w++) {
        make_ready(b, (int32_t)w, b->at_block[w]);
        b->at_block[w] = 0;
    }
    b->previous_count = b->count;
    b->arrived = b->count = 0;
}

/* Release the lanes of a warp whose synchronization with lane `lane` is complete; return whether it
 * is. */
static bool release_warp(BlockState *b, int32_t thread) {
    int32_t w = thread / WARP;
    const Fiber *first = &b->fibers[thread];
    uint32_t lanes = first->mask & b->live[w];
    void *values[WARP];
    if ((b->at_warp[w] & lanes) != lanes) return false;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const Fiber *f = &b->fibers[w * WARP + __builtin_ctz(rest)];
        if (f->mask != first->mask || f->combine != first->combine) return false;
        values[__builtin_ctz(rest)] = f->value;
    }
    if (first->combine) first->combine(values, lanes);
    b->at_warp[w] &= ~lanes;
    make_ready(b, w, lanes);
    return true;
}

/* A thread has ended: others may have waited only for it. */
static void end_thread(BlockState *b) {
    int32_t w = b->current / WARP;
    b->live[w] &= ~bit(b->current);
    b->left--;
    if (b->left && b->arrived == b->left) release_block(b);
    for (uint32_t rest = b->at_warp[w]; rest; rest &= rest - 1) {
        int32_t lane = __builtin_ctz(rest);
        if (b->at_warp[w] >> lane & 1) release_warp(b, w * WARP + lane);
    }
}

/* The main function of a stack: runs threads that have not started, until the next one has. A launch
 * may be stopped between any two instructions (interrupt.c): then a stack may leak, but two threads
 * never share one. */
static void fiber_main(void) {
    for (;;) {
        BlockState *b = current_block;
        b->kernel->thread(b->current);
        Fiber *fiber = &b->fibers[b->current];
        Stack *stack = fiber->stack;
        fiber->stack = 0;
        atomic_signal_fence(memory_order_seq_cst);
        end_thread(b);
        int32_t next = next_thread(b);
        if (next >= 0 && !b->fibers[next].stack) {
            b->fibers[next].stack = stack;
            b->current = next;
            continue;
        }
        release_stack(stack);
        Context discarded;
        if (next < 0) {
            finish_block(b);
            switch_context(&discarded, &b->caller);
        }
        b->current = next;
        switch_context(&discarded, &b->fibers[next].context);
    }
}

/* ---- services for threads ---- */

ALWAYS_INLINE static inline void suspend(BlockState *b, int32_t at, int32_t line) {
    int32_t thread = b->current;
    Fiber *f = &b->fibers[thread];
    f->at = at;
    f->line = line;
    switch_to_next(b, &f->context);
    f->at = NONE;
}

/* A barrier of the block; returns the number of threads whose condition holds. */
static int32_t sync_block(int32_t condition, int32_t line) {
    BlockState *b = current_block;
    b->arrived++;
    b->count += condition != 0;
    if (b->arrived == b->left) {
        release_block(b);
    } else {
        b->at_block[b->current / WARP] |= bit(b->current);
        suspend(b, AT_BLOCK, line);
    }
    return b->previous_count;
}

/* Synchronize lanes of a warp; the last one combines the values. */
static void sync_warp(uint32_t mask, void *value, Combine combine, int32_t line) {
    BlockState *b = current_block;
    int32_t thread = b->current, w = thread / WARP;
    Fiber *f = &b->fibers[thread];
    f->mask = mask;
    f->value = value;
    f->combine = combine;
    b->at_warp[w] |= bit(thread);
    if ((mask & bit(thread)) && release_warp(b, thread)) {
        b->ready[w] &= ~bit(thread);
        if (!b->ready[w]) b->ready_warps &= ~(UINT32_C(1) << w);
        return;
    }
    suspend(b, AT_WARP, line);
}

static uint32_t active_lanes(int32_t line) {
    BlockState *b = current_block;
    Fiber *f = &b->fibers[b->current];
    b->at_active[b->current / WARP] |= bit(b->current);
    suspend(b, AT_ACTIVE, line);
    return f->mask;
}

static void sync_grid(int32_t line) {
    BlockState *b = current_block;
    b->at_grid[b->current / WARP] |= bit(b->current);
    b->arrived_at_grid++;
    suspend(b, AT_GRID, line);
}

/* Yield to other threads, for which this one may wait. */
static void yield_to_others(void) {
    BlockState *b = current_block;
    int32_t w = b->current / WARP;
    b->yielded[w] |= bit(b->current);
    b->yielded_warps |= UINT32_C(1) << w;
    suspend(b, NONE, 0);
}

/* End the launch. */
static void fail(int32_t code) {
    BlockState *b = current_block;
    int none = 0;
    atomic_compare_exchange_strong(&launch->code, &none, code);
    b->status = DEADLOCKED;
    switch_context(&b->fibers[b->current].context, &b->caller);
}

typedef struct {
    int32_t (*sync_block)(int32_t condition, int32_t line);
    void (*sync_warp)(uint32_t mask, void *value, Combine combine, int32_t line);
    uint32_t (*active_lanes)(int32_t line);
    void (*sync_grid)(int32_t line);
    void (*yield)(void);
    void (*fail)(int32_t code);
} Services;

const Services pycu2c_services = {
    sync_block, sync_warp, active_lanes, sync_grid, yield_to_others, fail,
};

/* ---- blocks ---- */

static void init_block(BlockState *b, const Kernel *kernel, int32_t threads) {
    b->kernel = kernel;
    b->threads = b->left = threads;
    b->warps = (uint32_t)(threads + WARP - 1) / WARP;
    b->ready_warps = b->yielded_warps = 0;
    b->current = b->arrived = b->arrived_at_grid = b->count = 0;
    b->status = RUNS;
    for (uint32_t w = 0; w < b->warps; w++) {
        int32_t lanes = threads - (int32_t)w * WARP;
        b->live[w] = lanes >= WARP ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
        b->yielded[w] = b->at_block[w] = b->at_warp[w] = b->at_active[w] = b->at_grid[w] = 0;
        b->ready[w] = 0;
        make_ready(b, (int32_t)w, b->live[w]);
    }
}

/* Release the stacks of threads that have not ended. */
static void release_stacks(BlockState *b) {
    for (int32_t i = 0; i < b->threads; i++) {
        Stack *stack = b->fibers[i].stack;
        b->fibers[i].stack = 0;
        atomic_signal_fence(memory_order_seq_cst);
        if (stack) release_stack(stack);
        b->fibers[i].at = NONE;
    }
}

static void report_block(const BlockState *b, int64_t number) {
    pthread_mutex_lock(&report_mutex);
    if (report.count < MAX_REPORTED) {
        BlockReport *reported = &report.blocks[report.count++];
        reported->number = number;
        memset(reported->waits, 0, sizeof reported->waits);
        for (int32_t i = 0; i < b->threads; i++) {
            const Fiber *f = &b->fibers[i];
            if (!(b->live[i / WARP] & bit(i)) || !f->at) continue;
            uint64_t mask = f->at == AT_WARP ? f->mask : 0;
            reported->waits[i] = mask << 32 | (uint64_t)(uint32_t)f->line << 3 | (uint64_t)f->at;
        }
    }
    pthread_mutex_unlock(&report_mutex);
}

static void run_threads(BlockState *b) {
    current_block = b;
    b->status = RUNS;
    switch_to_next(b, &b->caller);
    current_block = 0;
}

static void run_blocks(const void *launch_pointer, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch_pointer;
    launch = l;
    if (!reused_block) reused_block = calloc(1, sizeof *reused_block);
    if (!reused_block) atomic_store(&l->code, MEMORY_CODE);
    else release_stacks(reused_block); /* the last launch may have been stopped */
    for (int64_t block = first; block < last && !atomic_load(&l->code); block++) {
        init_block(reused_block, l->kernel, l->threads);
        l->kernel->begin(l->arguments, block);
        run_threads(reused_block);
        if (reused_block->status == ENDED) continue;
        int none = 0;
        if (atomic_compare_exchange_strong(&l->code, &none, DEADLOCK_CODE))
            report_block(reused_block, block);
        release_stacks(reused_block);
    }
}
