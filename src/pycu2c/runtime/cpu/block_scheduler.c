/* Launches of coroutine kernels: distributes clusters to OS threads. The text of
 * coroutine_scheduler.c precedes this one.
 *
 * If clusters wait for each other, in a loop that polls memory or at a barrier of the grid, those
 * that cannot proceed are suspended, and any OS thread may resume them. Such a launch consists of
 * phases. In a phase, each cluster runs once, in order. In between, the OS threads poll the
 * clusters that have waited longest while one of them makes progress, which ends chains of blocks
 * that wait for their predecessors. An OS thread without clusters to start stays while others run,
 * and polls less and less often. So an OS thread that is preempted delays only the cluster that it
 * runs and the clusters that depend on it. A phase ends when no cluster can proceed.
 */
enum { READY, WAITING, RUNNING, DONE_IN_PHASE };

enum {
    MAX_FAILED_POLLS = 4, /* of the clusters that have waited longest, */
    POLL_RANGE = 256,     /* among so many clusters */
    MAX_FREE_BUFFERS = 32,          /* buffers of finished clusters kept for reuse */
    WAITING_LIMIT = 256,  /* waiting clusters before no more are started for a while */
    MIN_SLEEP = 2000,     /* ns */
    MAX_SLEEP = 4000000,
    SLEEP_PER_POLL = 1000, /* sleep time for each failed poll, much longer than a poll */
    SPIN_COUNT = 300000    /* iterations of an empty loop, about 0.2 ms */
};

/* The clusters of a launch whose blocks wait for each other. `unfinished` lists those that have not
 * finished, in order. `suspended` (NULL before a cluster starts and after it finishes) and `states`
 * are indexed by cluster. RUNNING: an OS thread runs the cluster. DONE_IN_PHASE: the cluster has
 * finished or is at the barrier of the grid. */
struct suspended_clusters {
    Cluster **suspended;
    atomic_uchar *states;
    int64_t *unfinished, left;
    atomic_bool polling_all; /* an OS thread polls all waiting clusters */
    bool backwards;          /* the direction of the last poll of all */
    atomic_int max_polls;     /* polls of a cluster; halved after each failure */
    _Atomic(void *) free_buffers[MAX_FREE_BUFFERS];
    Counter first_unfinished;         /* no cluster before this index has to run in this phase */
    Counter unstarted;     /* clusters of this phase that no OS thread has reached */
    Counter workers;       /* OS threads that run a cluster */
    Counter waiting;       /* clusters that poll memory */
    Counter polls;         /* failed polls */
    Counter waiting_limit; /* the largest number of waiting clusters before `throttle` waits */
    Counter progress;      /* number of times that a cluster has made progress */
};

/* Run clusters that do not wait for others, each to its end. */
static void run_to_end(const void *launch, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch;
    void *memory = worker_memory(cluster_size(l));
    if (!memory) atomic_store(&l->code, MEMORY_CODE);
    for (int64_t number = first; number < last && !atomic_load(&l->code); number++) {
        Cluster *c = start_cluster(l, number, memory);
        if (run_cluster(l, c) != FINISHED) report_cluster(l, c);
    }
}

/* ---- memory of suspended clusters ---- */

/* Return memory for a cluster, that of a finished one if possible; NULL if there is none. */
static void *allocate_cluster(const Launch *l) {
    for (int i = 0; i < MAX_FREE_BUFFERS; i++) {
        void *const spare = atomic_exchange(&l->suspended_clusters->free_buffers[i], NULL);
        if (spare) return spare;
    }
    char *memory = aligned_alloc(CACHE_LINE, cluster_size(l)), *next = memory;
    if (!memory) return NULL;
    next += rounded(sizeof(Cluster));
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++, next += block_size(l))
        memset(next, 0, private_size(l) + rounded(l->shared_size));
    return memory;
}

/* Release a finished cluster. If interrupt.c ends the launch in the middle, its memory leaks. */
static void free_cluster(Launch *l, int64_t number) {
    struct suspended_clusters *p = l->suspended_clusters;
    void *const memory = p->suspended[number];
    p->suspended[number] = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    for (int i = 0; i < MAX_FREE_BUFFERS; i++) {
        void *none = NULL;
        if (atomic_load(&p->free_buffers[i])) continue;
        if (atomic_compare_exchange_strong(&p->free_buffers[i], &none, memory)) return;
    }
    free_aligned(memory);
}

/* ---- a phase ---- */

/* Acquire a cluster whose state is `from`; return whether it was. */
static bool try_acquire(struct suspended_clusters *p, int64_t number, unsigned char from) {
    if (atomic_load_explicit(&p->states[number], memory_order_relaxed) != from) return false;
    return atomic_compare_exchange_strong(&p->states[number], &from, RUNNING);
}

/* Return whether the waits of the threads of a cluster have changed since the last check. */
static bool waits_changed(const Launch *l, Cluster *c) {
    bool has = false;
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++) {
        Block *b = c->blocks[rank];
        if (!b->waits_changed) continue;
        b->waits_changed = false;
        const uint64_t now = hash_waits(l, b);
        has |= now != b->waits_hash;
        b->waits_hash = now;
    }
    return has;
}

static int64_t take_poll_count(const Launch *l, Cluster *c) {
    int64_t polls = 0;
    for (int64_t rank = 0; rank < l->cluster_blocks; rank++) {
        polls += c->blocks[rank]->polls;
        c->blocks[rank]->polls = 0;
    }
    return polls;
}

static int current_max_polls(struct suspended_clusters *p) {
    return atomic_load_explicit(&p->max_polls, memory_order_relaxed);
}

/* A longer polling time notices changes by other cores sooner, but is wasted if the OS thread that
 * makes them is not running. */
static void adapt_max_polls(struct suspended_clusters *p, int old, bool has_failed) {
    const int new = has_failed ? old / 2 : 2 * old;
    if (old != SINGLE_POLL && new >= MIN_POLLS && new <= MAX_POLLS)
        atomic_store_explicit(&p->max_polls, new, memory_order_relaxed);
}

/* Run an acquired cluster, which was ready or waiting, until it cannot proceed. Return whether it
 * has made progress. */
static bool run_acquired(Launch *l, int64_t number, unsigned char before, int max_polls) {
    struct suspended_clusters *p = l->suspended_clusters;
    Cluster *c = p->suspended[number];
    if (!c) {
        void *const memory = allocate_cluster(l);
        if (!memory) {
            atomic_store(&l->code, MEMORY_CODE);
            return false;
        }
        c = p->suspended[number] = start_cluster(l, number, memory);
    }
    c->max_polls = max_polls;
    c->status = run_cluster(l, c);
    const int64_t polls = take_poll_count(l, c);
    if (polls) atomic_fetch_add_explicit(&p->polls.count, polls, memory_order_relaxed);
    if (c->status == DEADLOCKED) report_cluster(l, c);
    const bool waits = c->status == POLLING, has_progressed = !waits || waits_changed(l, c);
    if (waits != (before == WAITING)) atomic_fetch_add(&p->waiting.count, waits ? 1 : -1);
    adapt_max_polls(p, max_polls, waits);
    if (c->status == FINISHED) free_cluster(l, number);
    atomic_store(&p->states[number], waits ? WAITING : DONE_IN_PHASE);
    if (has_progressed) atomic_fetch_add(&p->progress.count, 1);
    return has_progressed;
}

enum poll_result { NOT_WAITING, NO_PROGRESS, PROGRESS };

/* Poll a cluster once if it waits. */
static enum poll_result poll_cluster(Launch *l, int64_t number) {
    struct suspended_clusters *p = l->suspended_clusters;
    if (!try_acquire(p, number, WAITING)) return NOT_WAITING;
    atomic_fetch_add(&p->workers.count, 1);
    const bool has_progressed = run_acquired(l, number, WAITING, SINGLE_POLL);
    atomic_fetch_sub(&p->workers.count, 1);
    return has_progressed ? PROGRESS : NO_PROGRESS;
}

/* Return the index of the first cluster that has to run in this phase. */
static int64_t first_unfinished_now(struct suspended_clusters *p) {
    int_fast64_t old = atomic_load(&p->first_unfinished.count);
    int64_t index = old;
    while (index < p->left && atomic_load(&p->states[p->unfinished[index]]) == DONE_IN_PHASE)
        index++;
    if (index != old) atomic_compare_exchange_strong(&p->first_unfinished.count, &old, index);
    return index;
}

/* A signal that ends the sleep may be a request to leave the launch. The request is repeated soon,
 * and is only possible while the thread executes this code. */
static void sleep_briefly(int64_t ns) {
    const struct timespec pause = {0, (long)ns};
    if (nanosleep(&pause, NULL) == 0) return;
    for (volatile int i = 0; i < SPIN_COUNT; i++) continue;
}

/* Poll the clusters that have waited longest, while one makes progress. */
static void resume_oldest(Launch *l) {
    struct suspended_clusters *p = l->suspended_clusters;
    for (bool can = true; can && atomic_load(&p->waiting.count);) {
        const int64_t first_unfinished = first_unfinished_now(p), left = p->left - first_unfinished;
        const int64_t end = first_unfinished + (left < POLL_RANGE ? left : POLL_RANGE);
        can = false;
        int64_t failed_polls = 0;
        for (int64_t i = first_unfinished; i < end && failed_polls < MAX_FAILED_POLLS; i++) {
            const enum poll_result result = poll_cluster(l, p->unfinished[i]);
            can |= result == PROGRESS;
            failed_polls += result == NO_PROGRESS;
        }
    }
}

/* Poll all waiting clusters once, unless another OS thread does; return the number of failures. The
 * direction alternates, so that chains of clusters that wait for their successors end. */
static int64_t poll_all(Launch *l) {
    struct suspended_clusters *p = l->suspended_clusters;
    if (atomic_exchange(&p->polling_all, true)) return 0;
    const bool backwards = p->backwards = !p->backwards;
    const int64_t first_unfinished = first_unfinished_now(p), count = p->left - first_unfinished;
    int64_t failed_polls = 0;
    for (int64_t i = 0; i < count && !atomic_load(&l->code); i++) {
        const int64_t index = backwards ? p->left - 1 - i : first_unfinished + i;
        failed_polls += poll_cluster(l, p->unfinished[index]) == NO_PROGRESS;
    }
    atomic_store(&p->polling_all, false);
    return failed_polls;
}

static bool other_workers_active(struct suspended_clusters *p) {
    return atomic_load(&p->workers.count) || atomic_load(&p->polling_all);
}

/* Stay after all clusters have started, until none waits, or until all polls failed while no other
 * OS thread ran a cluster. */
static void wait_for_others(Launch *l) {
    struct suspended_clusters *p = l->suspended_clusters;
    int64_t pause = MIN_SLEEP, waits_hash = -1;
    while (atomic_load(&p->waiting.count) && !atomic_load(&l->code)) {
        resume_oldest(l);
        const int64_t progress = atomic_load(&p->progress.count);
        const bool is_idle = progress == waits_hash, is_alone = !other_workers_active(p);
        const int64_t failed_polls = is_idle ? poll_all(l) : 0;
        waits_hash = progress;
        if (!is_idle || progress != atomic_load(&p->progress.count)) {
            pause = MIN_SLEEP;
        } else if (is_alone && !other_workers_active(p)) {
            return;
        }
        if (is_alone) continue;
        sleep_briefly(pause > SLEEP_PER_POLL * failed_polls ? pause : SLEEP_PER_POLL * failed_polls);
        pause = pause < MAX_SLEEP / 2 ? 2 * pause : MAX_SLEEP;
    }
}

/* Wait, if many clusters are suspended, for clusters of other OS threads, because starting more takes
 * memory. If that does not help, raise the limit. */
static void throttle(Launch *l) {
    struct suspended_clusters *p = l->suspended_clusters;
    int64_t pause = MIN_SLEEP, limit = atomic_load(&p->waiting_limit.count);
    if (atomic_load(&p->waiting.count) < limit) return;
    atomic_fetch_sub(&p->workers.count, 1);
    while (pause < MAX_SLEEP && atomic_load(&p->workers.count) && !atomic_load(&l->code)) {
        sleep_briefly(pause);
        pause *= 2;
        resume_oldest(l);
        if (atomic_load(&p->waiting.count) < limit) break;
    }
    atomic_fetch_add(&p->workers.count, 1);
    if (atomic_load(&p->waiting.count) >= limit) atomic_store(&p->waiting_limit.count, 2 * limit);
}

/* Run one phase of clusters that may wait for each other. */
static void run_phase(const void *launch, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch;
    struct suspended_clusters *p = l->suspended_clusters;
    atomic_fetch_sub(&p->unstarted.count, last - first);
    atomic_fetch_add(&p->workers.count, 1);
    for (int64_t i = first; i < last && !atomic_load(&l->code); i++) {
        const int64_t number = p->unfinished[i];
        if (!p->suspended[number]) throttle(l);
        const bool is_ready = try_acquire(p, number, READY);
        if (!is_ready && !try_acquire(p, number, WAITING)) continue;
        if (run_acquired(l, number, is_ready ? READY : WAITING, current_max_polls(p))) resume_oldest(l);
    }
    atomic_fetch_sub(&p->workers.count, 1);
    if (!atomic_load(&p->unstarted.count)) wait_for_others(l);
}

/* ---- launches whose blocks wait for each other ---- */

/* Remove finished clusters from the list. */
static void remove_finished(struct suspended_clusters *p) {
    int64_t left = 0;
    for (int64_t i = 0; i < p->left; i++)
        if (p->suspended[p->unfinished[i]]) p->unfinished[left++] = p->unfinished[i];
    p->left = left;
}

static bool all_at_grid(const struct suspended_clusters *p) {
    for (int64_t i = 0; i < p->left; i++)
        if (p->suspended[p->unfinished[i]]->status != AT_GRID) return false;
    return true;
}

static void release_grid(const Launch *l) {
    struct suspended_clusters *p = l->suspended_clusters;
    for (int64_t i = 0; i < p->left; i++) {
        Cluster *c = p->suspended[p->unfinished[i]];
        release_blocks(l, c, WAIT_GRID);
        c->status = POLLING;
        atomic_store(&p->states[p->unfinished[i]], READY);
    }
}

/* Return a hash of the memory of the arguments. */
static uint64_t hash_memory(const Launch *l) {
    uint64_t hash = 1;
    for (int64_t i = 0; i < l->region_count; i++) {
        const char *begin = l->regions[i].begin;
        const size_t words = l->regions[i].size / sizeof(uint64_t) * sizeof(uint64_t);
        uint64_t rest = 0;
        hash = hash_bytes(hash, begin, words);
        memcpy(&rest, begin + words, l->regions[i].size - words);
        hash = hash_bytes(hash, &rest, sizeof rest);
    }
    return hash;
}

/* Return a hash of all state that polling threads may depend on. */
static uint64_t hash_state(const Launch *l) {
    const struct suspended_clusters *p = l->suspended_clusters;
    uint64_t hash = hash_memory(l);
    for (int64_t i = 0; i < p->left; i++) {
        const Cluster *c = p->suspended[p->unfinished[i]];
        for (int64_t rank = 0; rank < l->cluster_blocks; rank++) {
            const Block *b = c->blocks[rank];
            hash = hash_bytes(hash, b->waits, l->threads * sizeof *b->waits);
            hash = hash_bytes(hash, b->shared, rounded(l->shared_size));
            hash = hash_bytes(hash, b->threads, rounded(l->threads * l->kernel->thread_size));
        }
    }
    return hash;
}

static int run_in_pool(void (*body)(const void *, int64_t, int64_t), Launch *l, int64_t count) {
    announce_callee((const void *)(uintptr_t)l->kernel->run);
    return parallel(body, l, count);
}

static int run_one_phase(Launch *l) {
    atomic_store(&l->suspended_clusters->first_unfinished.count, 0);
    atomic_store(&l->suspended_clusters->unstarted.count, l->suspended_clusters->left);
    return run_in_pool(run_phase, l, l->suspended_clusters->left);
}

static int run_phases(Launch *l) {
    struct suspended_clusters *p = l->suspended_clusters;
    uint64_t before = 0;
    for (int unchanged_phases = 0; p->left && unchanged_phases < MAX_UNCHANGED_PHASES;) {
        const int64_t progress = atomic_load(&p->progress.count);
        const int ended = run_one_phase(l);
        if (ended) return ended;
        if (atomic_load(&l->code)) return 0;
        remove_finished(p);
        if (all_at_grid(p)) {
            release_grid(l);
        } else if (progress == atomic_load(&p->progress.count)) {
            const uint64_t now = hash_state(l);
            unchanged_phases = now == before ? unchanged_phases + 1 : 0;
            before = now;
            atomic_store(&p->max_polls, unchanged_phases ? MIN_POLLS : MAX_POLLS);
        }
    }
    for (int64_t i = 0; i < p->left; i++) report_cluster(l, p->suspended[p->unfinished[i]]);
    return 0;
}

static int run_suspendable(Launch *l, int64_t clusters) {
    struct suspended_clusters suspended_clusters = {
        .left = clusters, .max_polls = MAX_POLLS, .waiting_limit = {WAITING_LIMIT}};
    struct suspended_clusters *p = &suspended_clusters;
    l->suspended_clusters = p;
    p->suspended = calloc(clusters, sizeof *p->suspended);
    p->states = calloc(clusters, sizeof *p->states);
    p->unfinished = calloc(clusters, sizeof *p->unfinished);
    const bool has_memory = p->suspended && p->states && p->unfinished;
    for (int64_t i = 0; has_memory && i < clusters; i++) p->unfinished[i] = i;
    const int ended = has_memory ? run_phases(l) : MEMORY_CODE;
    for (int64_t i = 0; p->suspended && i < clusters; i++) free_aligned(p->suspended[i]);
    for (int i = 0; i < MAX_FREE_BUFFERS; i++) free_aligned(atomic_load(&p->free_buffers[i]));
    free(p->suspended);
    free(p->states);
    free(p->unfinished);
    l->report->polls = atomic_load(&p->polls.count);
    return ended;
}

/* ---- interface ---- */

/* Run all blocks of a launch. Return 0; the code of the pool if it ended the run early; DEADLOCK_CODE
 * after a deadlock; MEMORY_CODE if there is too little memory. */
int pycu2c_run_coroutines(const struct coroutine_kernel *kernel, const void *arguments,
                          int64_t blocks) {
    const LaunchHeader *header = arguments;
    Launch l = {.kernel = kernel, .arguments = arguments};
    l.cluster_blocks = (int64_t)kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2];
    l.threads = (int64_t)header->block[0] * header->block[1] * header->block[2];
    l.warps = (l.threads + WARP - 1) / WARP;
    l.shared_size = kernel->shared_size + header->shared_bytes;
    l.shared_capacity = kernel->shared_size + (header->shared_bytes ? MAX_SHARED_BYTES : 0);
    report.polls = report.count = 0;
    l.report = &report;
    l.regions = regions;
    l.region_count = region_count;
    const int64_t clusters = blocks / l.cluster_blocks;
    const int ended =
        kernel->waits_for_blocks ? run_suspendable(&l, clusters) : run_in_pool(run_to_end, &l, clusters);
    return ended ? ended : atomic_load(&l.code);
}

/* Set the memory of the arguments of the next launch of the calling thread. */
void pycu2c_set_memory(const struct region *given, int64_t count) {
    regions = given;
    region_count = count;
}

/* Return the report of the last launch of the calling thread. */
const struct report *pycu2c_report(void) { return &report; }

/* Set two functions of the pool: pycu2c_parallel, and pycu2c_pool_announce_callee, which is called
 * before it with the kernel that the body calls. */
void pycu2c_set_scheduler_pool(Parallel run, AnnounceCallee call) {
    parallel = run;
    announce_callee = call;
}
