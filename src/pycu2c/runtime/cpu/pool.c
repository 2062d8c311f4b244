/* A thread pool for kernels: runs body(args, first, last) on chunks of 0 .. count.
 *
 * The pool runs one job at a time, and the caller works on it too. A call that finds the pool busy,
 * from a body or from another thread, runs in its caller alone. The measured cost of earlier calls
 * of a body determines the size of the chunks, and whether the caller should run a small job alone.
 * An idle worker spins for a moment, then sleeps. A forked child has no workers and starts its own
 * when it needs them.
 *
 * Compiled after interrupt.c, in one translation unit.
 */
enum {
    MAX_THREADS = 1024,
    CACHE_LINE = 64,         /* bytes; variables that threads write often have their own cache lines */
    SERIAL_NS = 5000,        /* shorter jobs run in the caller alone */
    SPIN_NS = 50000,         /* how long a thread spins before it sleeps */
    CHUNK_NS = 20000,        /* target duration of a chunk, */
    CHUNKS_PER_THREAD = 8,   /* if each thread then has at least this number of chunks */
    CHUNKS_WITH_STARTUP = 2, /* the same if each chunk has startup and shutdown code */
    MAX_ROW_FACTOR = 16,     /* chunks of whole rows may take this multiple of the target */
    STACK_BYTES = 8 << 20,   /* kernels have local arrays on the stack */
    THREAD_RETRY_NS = 1000000000 /* delay after the system could not create another thread */
};

/* The state of the running job, in one word: bit 0 says that it is open, the bits of ACTIVE_WORKERS
 * count the workers that work on it, and the rest is the number of the job. A worker joins only an
 * open job. The caller closes the job when no chunk is left, and returns when no worker is active.
 * So a worker that wakes late neither delays a job nor reads the data of an old one. */
typedef uint64_t JobState;
#define OPEN ((JobState)1)
#define ONE_WORKER ((JobState)2)
#define ACTIVE_WORKERS ((JobState)0xfffe)
#define ONE_JOB ((JobState)0x10000)
#define JOB(job_state) ((job_state) / ONE_JOB)

typedef struct {
    _Alignas(CACHE_LINE) pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_bool asleep;
    int index; /* from 1; 0 is the caller */
    JobState seen; /* the number of the last job that this worker considered */
    _Atomic(pthread_t) thread;
    BodyState state;
} Worker;

static Worker workers[MAX_THREADS];
static atomic_int started = 0;   /* number of workers; changed only by the owner of `busy` */
static atomic_int threads = 1;   /* the requested number of threads, with the caller */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* The running job; written while the job is closed and no worker is active. */
static struct {
    Launch *launch;
    int64_t chunk;
    int worker_count;
} job;

static _Alignas(CACHE_LINE) _Atomic JobState job_state = 0;
static _Alignas(CACHE_LINE) _Atomic int64_t next_chunk = 0;
static atomic_int next_wake = 0;
static _Alignas(CACHE_LINE) atomic_bool caller_sleeps = false;
static pthread_mutex_t caller_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t caller_wake = PTHREAD_COND_INITIALIZER;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_briefly(void) {
    for (int i = 0; i < 16; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

static int64_t min_int64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_int64(int64_t a, int64_t b) { return a > b ? a : b; }

/* Waking a sleeping thread may take 40 us on a virtual machine. So each thread wakes one other before
 * each of its chunks, while there are chunks and sleeping threads. */
static void wake_another_worker(void) {
    while (atomic_load_explicit(&next_wake, memory_order_relaxed) <= job.worker_count) {
        int i = atomic_fetch_add_explicit(&next_wake, 1, memory_order_relaxed);
        if (i > job.worker_count) return;
        Worker *w = &workers[i];
        if (!atomic_exchange(&w->asleep, false)) continue; /* it is awake, and will see the job */
        pthread_mutex_lock(&w->mutex);
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->mutex);
        return;
    }
}

/* Work until no chunk is left, or the launch ends. Return the number of completed indices. */
static int64_t work(BodyState *state) {
    Launch *launch = job.launch;
    if (sigsetjmp(state->start, 0)) return 0;
    for (int64_t done = 0;;) {
        int64_t first = atomic_fetch_add_explicit(&next_chunk, job.chunk, memory_order_relaxed);
        int64_t last = min_int64(first + job.chunk, launch->count);
        if (first >= launch->count || has_ended(launch)) return done;
        if (last < launch->count) wake_another_worker();
        run_body(launch, state, first, last);
        done += last - first;
        if (state == &launch->state) run_check_if_requested(launch);
    }
}

/* ---- measured cost of bodies; two bodies may share an entry, which only costs time ---- */

enum { COSTS = 256 };
static _Atomic int64_t costs[COSTS]; /* picoseconds per index, + 1; 0: unknown */

static _Atomic int64_t *cost_of(Body body) {
    return &costs[((uintptr_t)body * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

/* Increase at once and decrease slowly: waking workers in vain is cheap, the reverse may not be. */
static void record_cost(Body body, int64_t ns, int64_t done) {
    if (done == 0) return;
    _Atomic int64_t *cost = cost_of(body);
    int64_t old = atomic_load_explicit(cost, memory_order_relaxed);
    int64_t new = 1 + (int64_t)(1000.0 * (double)ns / (double)done);
    if (new < old) new = old - (old - new + 3) / 4;
    atomic_store_explicit(cost, new, memory_order_relaxed);
}

/* ---- a worker ---- */

static bool has_new_job(const Worker *w) {
    JobState d = atomic_load(&job_state);
    return (d & OPEN) && JOB(d) != w->seen;
}

static void wait_for_job(Worker *w) {
    int64_t limit = now() + SPIN_NS;
    do {
        if (has_new_job(w)) return;
        pause_briefly();
    } while (now() < limit);
    pthread_mutex_lock(&w->mutex);
    for (;;) {
        /* before the last check: a caller opens the job, then reads this flag */
        atomic_store(&w->asleep, true);
        if (has_new_job(w)) break;
        pthread_cond_wait(&w->wake, &w->mutex);
    }
    atomic_store(&w->asleep, false);
    pthread_mutex_unlock(&w->mutex);
}

static bool join_job(Worker *w) {
    JobState d = atomic_load(&job_state);
    do {
        if (!(d & OPEN) || JOB(d) == w->seen) return false;
    } while (!atomic_compare_exchange_weak(&job_state, &d, d + ONE_WORKER));
    w->seen = JOB(d);
    return true;
}

static void leave_job(void) {
    JobState d = atomic_fetch_sub(&job_state, ONE_WORKER) - ONE_WORKER;
    if ((d & (OPEN | ACTIVE_WORKERS)) || !atomic_load(&caller_sleeps)) return;
    pthread_mutex_lock(&caller_mutex);
    pthread_cond_signal(&caller_wake);
    pthread_mutex_unlock(&caller_mutex);
}

static void *worker_main(void *pointer) {
    Worker *w = pointer;
    atomic_store(&w->thread, pthread_self());
    for (;;) {
        wait_for_job(w);
        if (!join_job(w)) continue;
        if (w->index <= job.worker_count) work(&w->state);
        leave_job();
    }
    return 0;
}

static Launch *job_of_worker(BodyState **state) {
    for (int i = 1; i <= atomic_load(&started); i++) {
        if (!pthread_equal(atomic_load(&workers[i].thread), pthread_self())) continue;
        *state = &workers[i].state;
        return atomic_load(&workers[i].state.in_body) ? job.launch : 0;
    }
    return 0;
}

/* ---- the caller ---- */

static void reset_in_child(void) { /* only the forking thread lives on */
    reset_owner_in_child();
    atomic_store(&started, 0);
    atomic_store(&job_state, 0);
    atomic_store(&caller_sleeps, false);
    pthread_mutex_init(&caller_mutex, 0);
    pthread_cond_init(&caller_wake, 0);
    atomic_flag_clear(&busy);
}

static void register_fork_handler(void) {
#if !defined(_WIN32)
    pthread_atfork(0, 0, reset_in_child);
#endif
}

static void register_fork_handler_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handler);
}

static bool start_worker(int index) {
    Worker *w = &workers[index];
    pthread_mutex_init(&w->mutex, 0);
    pthread_cond_init(&w->wake, 0);
    atomic_store(&w->asleep, false);
    atomic_store(&w->state.in_body, false);
    w->index = index;
    w->seen = JOB(atomic_load(&job_state));
    return start_thread(worker_main, w, STACK_BYTES);
}

static void start_workers(int target) {
    static int64_t next_try = 0;
    if (now() < next_try) return;
    while (atomic_load(&started) < target) {
        if (!start_worker(atomic_load(&started) + 1)) {
            next_try = now() + THREAD_RETRY_NS; /* fewer are enough */
            return;
        }
        atomic_fetch_add(&started, 1);
    }
}

static bool all_workers_done(void) { return !(atomic_load(&job_state) & ACTIVE_WORKERS); }

static bool check_is_requested(const Launch *launch) {
    return launch->owned && atomic_load_explicit(&check_requested, memory_order_relaxed);
}

static void sleep_until_done_or_check(const Launch *launch) {
    pthread_mutex_lock(&caller_mutex);
    /* before the last check: others change the state, then read this flag */
    atomic_store(&caller_sleeps, true);
    while (!all_workers_done() && !check_is_requested(launch))
        pthread_cond_wait(&caller_wake, &caller_mutex);
    atomic_store(&caller_sleeps, false);
    pthread_mutex_unlock(&caller_mutex);
}

static void wake_caller(void) {
    if (!atomic_load(&caller_sleeps)) return;
    pthread_mutex_lock(&caller_mutex);
    pthread_cond_signal(&caller_wake);
    pthread_mutex_unlock(&caller_mutex);
}

static void interrupt_workers(const Launch *launch) {
    find_text_segments(launch->body, launch->callee);
    install_interrupt_handler();
    for (int i = 1; i <= atomic_load(&started); i++) {
        if (!atomic_load(&workers[i].state.in_body)) continue;
        interrupt_thread(atomic_load(&workers[i].thread));
    }
}

static void wait_for_workers(Launch *launch) {
    if (all_workers_done()) return;
    int64_t limit = now() + SPIN_NS;
    for (int tries = 1; !all_workers_done();) {
        run_check_if_requested(launch);
        if (was_forked(launch)) return;
        if (has_ended(launch)) {
            interrupt_workers(launch);
            sleep_before_retry(tries++);
        } else if (now() < limit) {
            pause_briefly();
        } else {
            sleep_until_done_or_check(launch);
        }
    }
}

static void run_rest(Launch *launch, int64_t first) {
    if (sigsetjmp(launch->state.start, 0)) return;
    run_body(launch, &launch->state, first, launch->count);
}

/* Run a job that is expected to be short, in growing chunks, for at most about SERIAL_NS. Return the
 * index reached. */
static int64_t run_serially(Launch *launch) {
    if (sigsetjmp(launch->state.start, 0)) return 0;
    int64_t start = now(), passed = 0, done = 0;
    for (int64_t size = 1; done < launch->count && passed < SERIAL_NS; size *= 2) {
        int64_t last = min_int64(done + size, launch->count);
        run_body(launch, &launch->state, done, last);
        done = last;
        passed = now() - start;
    }
    record_cost(launch->body, passed, done);
    return done;
}

/* Return the number of indices in a chunk: whole rows if these are not too long. Bodies access memory
 * in rows, and threads that process a part of a row take up to a third longer. */
static int64_t chunk_size(int64_t target, int64_t max_chunk, int64_t row) {
    int64_t chunk = max_int64(1, min_int64(target, max_chunk));
    bool whole = row <= max_chunk && row / MAX_ROW_FACTOR <= chunk;
    return whole ? (chunk + row - 1) / row * row : chunk;
}

static void run_in_parallel(Launch *launch, int64_t first, int64_t chunk) {
    int64_t chunks = (launch->count - first + chunk - 1) / chunk;
    int64_t worker_count = min_int64(atomic_load(&threads) - 1, chunks - 1);
    if (atomic_load(&started) < worker_count) start_workers((int)worker_count);
    job.launch = launch;
    job.chunk = chunk;
    job.worker_count = (int)min_int64(worker_count, atomic_load(&started));
    atomic_store(&next_chunk, first);
    atomic_store(&next_wake, 1);
    atomic_fetch_add(&job_state, ONE_JOB + OPEN);
    int64_t start = now(), done = work(&launch->state);
    if (was_forked(launch)) return;
    if (!has_ended(launch)) record_cost(launch->body, now() - start, done);
    atomic_fetch_sub(&job_state, OPEN);
    wait_for_workers(launch);
}

static void run(Launch *launch) {
    int64_t size = atomic_load(&threads), count = launch->count, done = 0;
    if (launch->owned && launch->outer && run_nested(launch, STACK_BYTES)) return;
    int64_t cost = atomic_load_explicit(cost_of(launch->body), memory_order_relaxed);
    if (size == 1 || count <= 1) {
        if (count > 0) run_rest(launch, 0);
        return;
    }
    if (cost > 0 && (double)cost * (double)count < 1e3 * SERIAL_NS) {
        done = run_serially(launch);
        if (done == count || has_ended(launch)) return;
    }
    if (done + 1 == count || atomic_flag_test_and_set(&busy)) {
        run_rest(launch, done);
        return;
    }
    int64_t target = cost > 0 && !launch->has_startup ? INT64_C(1000) * CHUNK_NS / cost : count;
    int64_t chunks_per_thread = launch->has_startup ? CHUNKS_WITH_STARTUP : CHUNKS_PER_THREAD;
    int64_t max_chunk = (count - done) / (size * chunks_per_thread);
    run_in_parallel(launch, done, chunk_size(target, max_chunk, launch->row));
    if (!was_forked(launch)) atomic_flag_clear(&busy);
}

/* Set the number of threads, with the caller, if n > 0. Return the current number. */
int pycu2c_pool_size(int n) {
    /* a child may be forked before the first launch by a thread that becomes its owner */
    register_fork_handler_once();
    if (n > 0) atomic_store(&threads, (int)min_int64(n, MAX_THREADS));
    return atomic_load(&threads);
}

static int run_in_chunks(Body body, const void *args, int64_t count, int64_t row, bool has_startup) {
    register_fork_handler_once();
    Launch launch;
    launch.row = row;
    launch.has_startup = has_startup;
    begin_launch(&launch, body, args, count);
    run(&launch);
    run_check_if_requested(&launch); /* one of a sequence of short launches */
    finish_launch(&launch);
    return was_forked(&launch) ? 2 : has_ended(&launch);
}

/* Run body on 0 .. count in chunks, in unspecified order. Return 0 when all are done, 1 if the owner
 * ended the launch, 2 in a child that it forked in its callback. */
int pycu2c_parallel(Body body, const void *args, int64_t count) {
    return run_in_chunks(body, args, count, 1, false);
}

/* The same for a grid of blocks. The arguments start with the length of a row. */
int pycu2c_grid(Body body, const void *args, int64_t count) {
    return run_in_chunks(body, args, count, *(const int32_t *)args, false);
}

/* The same for a body with startup and shutdown code, such as one that adds to a private copy of an
 * array. */
int pycu2c_grid_by_copies(Body body, const void *args, int64_t count) {
    return run_in_chunks(body, args, count, *(const int32_t *)args, true);
}
