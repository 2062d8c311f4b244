/* Launches of kernels whose threads go in steps: shares their clusters out among OS threads. The
 * text of scheduler.c comes before this one.
 *
 * Where clusters wait for each other, by a loop that looks at memory or at a barrier of the grid,
 * those that cannot go on are parked, and any OS thread may take them up again. A launch is then
 * a row of phases. In a phase, each cluster has its turn, in order. In between, those that have
 * waited longest look whether they can go on by now, as long as they can: so rows of blocks end
 * that wait for the one before. An OS thread that has no more clusters to begin stays while others
 * run theirs, and looks ever more rarely. So what an OS thread without a core keeps waiting is the
 * cluster that it runs, and those that need that one. A phase ends when nobody can go on.
 */
enum { READY, WAITING, HELD, PAST };

enum {
    WINDOW = 4,   /* of the clusters that have waited longest may look in vain, */
    REACH = 256,  /* among so many clusters, */
    SPARES = 32,  /* of the memories of ended clusters are kept for others */
    ROOM = 256,   /* may wait before no more are begun for a while */
    SHORTEST_NAP = 2000, /* ns */
    LONGEST_NAP = 4000000,
    LOOK_NS = 1000, /* of a nap for each look in vain: much more than one takes */
    STAY = 300000   /* rounds of an empty loop, some 0.2 ms */
};

/* The clusters of a launch that parks. `unfinished` has those that have not ended, in order. By
 * their numbers go `parked`, NULL for those that have not begun or have ended, and `states`: HELD
 * is one that is being run, PAST one that has ended or is at the grid's barrier. */
struct parking {
    Cluster **parked;
    atomic_uchar *states;
    int64_t *unfinished, left;
    atomic_bool looking; /* an OS thread goes through all that wait, */
    bool backwards;      /* or has done so, from the back */
    atomic_int patience; /* of those that have their turn: less after each that looks in vain */
    _Atomic(void *) spares[SPARES];
    Counter front;   /* no cluster before that place has to go on in this phase */
    Counter unbegun; /* clusters of this phase that no OS thread has come to */
    Counter workers; /* OS threads that run some cluster */
    Counter waiting; /* clusters that look at memory, */
    Counter looks;   /* and how often that was in vain */
    Counter room;    /* how many may wait */
    Counter news;    /* how often a cluster has come further */
};

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

/* ---- memory of parked clusters ---- */

/* Memory for a cluster, if possible that of one that has ended; NULL if there is none. */
static void *some_memory(const Launch *l) {
    for (int i = 0; i < SPARES; i++) {
        void *const spare = atomic_exchange(&l->parking->spares[i], NULL);
        if (spare) return spare;
    }
    char *memory = aligned_alloc(LINE, cluster_size(l)), *next = memory;
    if (!memory) return NULL;
    next += rounded(sizeof(Cluster));
    for (int64_t rank = 0; rank < l->together; rank++, next += block_size(l))
        memset(next, 0, own_size(l) + rounded(l->shared_size));
    return memory;
}

/* Drops a cluster that has ended. Where the launch ends in the middle of this, by leaving.c, its
 * memory is lost. */
static void drop(Launch *l, int64_t number) {
    struct parking *p = l->parking;
    void *const memory = p->parked[number];
    p->parked[number] = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    for (int i = 0; i < SPARES; i++) {
        void *none = NULL;
        if (atomic_load(&p->spares[i])) continue;
        if (atomic_compare_exchange_strong(&p->spares[i], &none, memory)) return;
    }
    free(memory);
}

/* ---- a phase ---- */

/* Takes a cluster, unless its state is another one. */
static bool takes(struct parking *p, int64_t number, unsigned char from) {
    if (atomic_load_explicit(&p->states[number], memory_order_relaxed) != from) return false;
    return atomic_compare_exchange_strong(&p->states[number], &from, HELD);
}

/* Whether the threads of a cluster wait for something else than when that was last asked. */
static bool has_moved(const Launch *l, Cluster *c) {
    bool has = false;
    for (int64_t rank = 0; rank < l->together; rank++) {
        Block *b = c->blocks[rank];
        if (!b->has_moved) continue;
        b->has_moved = false;
        const uint64_t now = waits_of(l, b);
        has |= now != b->seen;
        b->seen = now;
    }
    return has;
}

static int64_t looks_of(const Launch *l, Cluster *c) {
    int64_t looks = 0;
    for (int64_t rank = 0; rank < l->together; rank++) {
        looks += c->blocks[rank]->looks;
        c->blocks[rank]->looks = 0;
    }
    return looks;
}

static int patience_now(struct parking *p) {
    return atomic_load_explicit(&p->patience, memory_order_relaxed);
}

/* Who may look for longer sees sooner what an OS thread on another core does. It is a waste where
 * that has no core. */
static void learn_patience(struct parking *p, int old, bool was_in_vain) {
    const int new = was_in_vain ? old / 2 : 2 * old;
    if (old != ONE_TURN && new >= LEAST_TURNS && new <= MANY_TURNS)
        atomic_store_explicit(&p->patience, new, memory_order_relaxed);
}

/* Runs a cluster that this OS thread has taken, which was ready or waiting, until it cannot go on;
 * whether it has come further. */
static bool run_taken(Launch *l, int64_t number, unsigned char before, int patience) {
    struct parking *p = l->parking;
    Cluster *c = p->parked[number];
    if (!c) {
        void *const memory = some_memory(l);
        if (!memory) {
            atomic_store(&l->code, MEMORY_CODE);
            return false;
        }
        c = p->parked[number] = begun_cluster(l, number, memory);
    }
    c->patience = patience;
    c->status = run_cluster(l, c);
    const int64_t looks = looks_of(l, c);
    if (looks) atomic_fetch_add_explicit(&p->looks.count, looks, memory_order_relaxed);
    if (c->status == STUCK) tell(l, c);
    const bool waits = c->status == LOOKS, is_news = !waits || has_moved(l, c);
    if (waits != (before == WAITING)) atomic_fetch_add(&p->waiting.count, waits ? 1 : -1);
    learn_patience(p, patience, waits);
    if (c->status == ENDS) drop(l, number);
    atomic_store(&p->states[number], waits ? WAITING : PAST);
    if (is_news) atomic_fetch_add(&p->news.count, 1);
    return is_news;
}

enum sight { NOTHING, IN_VAIN, NEWS };

/* Lets a cluster look once, if it waits. */
static enum sight look(Launch *l, int64_t number) {
    struct parking *p = l->parking;
    if (!takes(p, number, WAITING)) return NOTHING;
    atomic_fetch_add(&p->workers.count, 1);
    const bool is_news = run_taken(l, number, WAITING, ONE_TURN);
    atomic_fetch_sub(&p->workers.count, 1);
    return is_news ? NEWS : IN_VAIN;
}

/* The place of the first cluster that has to go on in this phase. */
static int64_t front_now(struct parking *p) {
    int_fast64_t old = atomic_load(&p->front.count);
    int64_t place = old;
    while (place < p->left && atomic_load(&p->states[p->unfinished[place]]) == PAST) place++;
    if (place != old) atomic_compare_exchange_strong(&p->front.count, &old, place);
    return place;
}

/* A signal that ends a nap may be for calling this OS thread out of the launch. That is tried again
 * soon after, and can only be done while it executes this text. */
static void nap(int64_t ns) {
    const struct timespec pause = {0, (long)ns};
    if (nanosleep(&pause, NULL) == 0) return;
    for (volatile int i = 0; i < STAY; i++) continue;
}

/* Lets those go on that have waited longest, as long as some can. */
static void follow_up(Launch *l) {
    struct parking *p = l->parking;
    for (bool can = true; can && atomic_load(&p->waiting.count);) {
        const int64_t front = front_now(p), left = p->left - front;
        const int64_t end = front + (left < REACH ? left : REACH);
        can = false;
        for (int64_t place = front, in_vain = 0; place < end && in_vain < WINDOW; place++) {
            const enum sight sight = look(l, p->unfinished[place]);
            can |= sight == NEWS;
            in_vain += sight == IN_VAIN;
        }
    }
}

/* Lets all look once that wait, unless another OS thread is about to; how many have in vain. From
 * the front and from the back in turn: rows of clusters that wait for those after them end by it. */
static int64_t look_around(Launch *l) {
    struct parking *p = l->parking;
    if (atomic_exchange(&p->looking, true)) return 0;
    const bool backwards = p->backwards = !p->backwards;
    const int64_t front = front_now(p), count = p->left - front;
    int64_t in_vain = 0;
    for (int64_t i = 0; i < count && !atomic_load(&l->code); i++)
        in_vain += look(l, p->unfinished[backwards ? p->left - 1 - i : front + i]) == IN_VAIN;
    atomic_store(&p->looking, false);
    return in_vain;
}

static bool others_work(struct parking *p) {
    return atomic_load(&p->workers.count) || atomic_load(&p->looking);
}

/* Stays, when all clusters have begun, until none waits, or all have looked in vain while no other
 * OS thread ran any. */
static void linger(Launch *l) {
    struct parking *p = l->parking;
    int64_t pause = SHORTEST_NAP, seen = -1;
    while (atomic_load(&p->waiting.count) && !atomic_load(&l->code)) {
        follow_up(l);
        const int64_t news = atomic_load(&p->news.count);
        const bool is_still = news == seen, is_alone = !others_work(p);
        const int64_t in_vain = is_still ? look_around(l) : 0;
        seen = news;
        if (!is_still || news != atomic_load(&p->news.count)) {
            pause = SHORTEST_NAP;
        } else if (is_alone && !others_work(p)) {
            return;
        }
        if (is_alone) continue;
        nap(pause > LOOK_NS * in_vain ? pause : LOOK_NS * in_vain);
        pause = pause < LONGEST_NAP / 2 ? 2 * pause : LONGEST_NAP;
    }
}

/* Waits, if many clusters do, for what other OS threads run, which they may wait for: to begin more
 * would take memory. If that does not help, there is room for more. */
static void hold_back(Launch *l) {
    struct parking *p = l->parking;
    int64_t pause = SHORTEST_NAP, room = atomic_load(&p->room.count);
    if (atomic_load(&p->waiting.count) < room) return;
    atomic_fetch_sub(&p->workers.count, 1);
    while (pause < LONGEST_NAP && atomic_load(&p->workers.count) && !atomic_load(&l->code)) {
        nap(pause);
        pause *= 2;
        follow_up(l);
        if (atomic_load(&p->waiting.count) < room) break;
    }
    atomic_fetch_add(&p->workers.count, 1);
    if (atomic_load(&p->waiting.count) >= room) atomic_store(&p->room.count, 2 * room);
}

/* One phase of clusters that may wait for each other. */
static void run_phase(const void *launch, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch;
    struct parking *p = l->parking;
    atomic_fetch_sub(&p->unbegun.count, last - first);
    atomic_fetch_add(&p->workers.count, 1);
    for (int64_t i = first; i < last && !atomic_load(&l->code); i++) {
        const int64_t number = p->unfinished[i];
        if (!p->parked[number]) hold_back(l);
        const bool is_ready = takes(p, number, READY);
        if (!is_ready && !takes(p, number, WAITING)) continue;
        if (run_taken(l, number, is_ready ? READY : WAITING, patience_now(p))) follow_up(l);
    }
    atomic_fetch_sub(&p->workers.count, 1);
    if (!atomic_load(&p->unbegun.count)) linger(l);
}

/* ---- a launch that parks ---- */

/* Drops the clusters that have ended. */
static void keep_unfinished(struct parking *p) {
    int64_t left = 0;
    for (int64_t i = 0; i < p->left; i++)
        if (p->parked[p->unfinished[i]]) p->unfinished[left++] = p->unfinished[i];
    p->left = left;
}

static bool all_at_grid(const struct parking *p) {
    for (int64_t i = 0; i < p->left; i++)
        if (p->parked[p->unfinished[i]]->status != AT_GRID) return false;
    return true;
}

static void let_grid_go(const Launch *l) {
    struct parking *p = l->parking;
    for (int64_t i = 0; i < p->left; i++) {
        Cluster *c = p->parked[p->unfinished[i]];
        let_blocks_go(l, c, WAIT_GRID);
        c->status = LOOKS;
        atomic_store(&p->states[p->unfinished[i]], READY);
    }
}

/* What the kernel is given, in one word. */
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

/* What can let threads go on that look at memory, in one word. */
static uint64_t all_now(const Launch *l) {
    const struct parking *p = l->parking;
    uint64_t hash = memory_now(l);
    for (int64_t i = 0; i < p->left; i++) {
        const Cluster *c = p->parked[p->unfinished[i]];
        for (int64_t rank = 0; rank < l->together; rank++) {
            const Block *b = c->blocks[rank];
            hash = mixed(hash, b->waits, l->threads * sizeof *b->waits);
            hash = mixed(hash, b->shared, rounded(l->shared_size));
            hash = mixed(hash, b->threads, rounded(l->threads * l->kernel->thread_size));
        }
    }
    return hash;
}

static int run_in_pool(void (*body)(const void *, int64_t, int64_t), Launch *l, int64_t count) {
    calls((const void *)(uintptr_t)l->kernel->run);
    return parallel(body, l, count);
}

static int run_a_phase(Launch *l) {
    atomic_store(&l->parking->front.count, 0);
    atomic_store(&l->parking->unbegun.count, l->parking->left);
    return run_in_pool(run_phase, l, l->parking->left);
}

static int run_phases(Launch *l) {
    struct parking *p = l->parking;
    uint64_t before = 0;
    for (int still = 0; p->left && still < STILL_PHASES;) {
        const int64_t news = atomic_load(&p->news.count);
        const int ended = run_a_phase(l);
        if (ended) return ended;
        if (atomic_load(&l->code)) return 0;
        keep_unfinished(p);
        if (all_at_grid(p)) {
            let_grid_go(l);
        } else if (news == atomic_load(&p->news.count)) {
            const uint64_t now = all_now(l);
            still = now == before ? still + 1 : 0;
            before = now;
            atomic_store(&p->patience, still ? LEAST_TURNS : MANY_TURNS);
        }
    }
    for (int64_t i = 0; i < p->left; i++) tell(l, p->parked[p->unfinished[i]]);
    return 0;
}

static int run_parked(Launch *l, int64_t clusters) {
    struct parking parking = {.left = clusters, .patience = MANY_TURNS, .room = {ROOM}};
    struct parking *p = &parking;
    l->parking = p;
    p->parked = calloc(clusters, sizeof *p->parked);
    p->states = calloc(clusters, sizeof *p->states);
    p->unfinished = calloc(clusters, sizeof *p->unfinished);
    const bool has_memory = p->parked && p->states && p->unfinished;
    for (int64_t i = 0; has_memory && i < clusters; i++) p->unfinished[i] = i;
    const int ended = has_memory ? run_phases(l) : MEMORY_CODE;
    for (int64_t i = 0; p->parked && i < clusters; i++) free(p->parked[i]);
    for (int i = 0; i < SPARES; i++) free(atomic_load(&p->spares[i]));
    free(p->parked);
    free(p->states);
    free(p->unfinished);
    l->report->looks = atomic_load(&p->looks.count);
    return ended;
}

/* ---- what others call ---- */

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
    report.looks = report.count = 0;
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
