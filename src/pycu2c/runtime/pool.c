/* A thread pool for kernels: runs body(args, first, last) over pieces of 0 .. count.
 *
 * It knows nothing of kernels or of Python. One job runs at a time, and its caller works on it
 * too; a call that finds the pool busy (from a body, or from another thread) runs in its caller
 * alone. What a body has cost before tells how long the pieces should be, and whether the job is so
 * small that its caller had better do it alone. A worker with nothing to do spins for a moment, then
 * sleeps. A forked child has no workers and starts its own when it needs them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef void (*Body)(const void *args, int64_t first, int64_t last);

enum {
    MOST_THREADS = 1024,
    LINE = 64,               /* bytes; what threads write often is kept on lines of its own */
    ALONE_NS = 5000,         /* jobs shorter than this are not worth a helper */
    SPIN_NS = 50000,         /* how long a thread spins before it sleeps */
    PIECE_NS = 20000,        /* how long a piece should take, */
    PIECES_PER_THREAD = 8,   /* if that leaves each thread so many of them */
    STACK_BYTES = 8 << 20    /* local arrays of kernels live there */
};

/* The door of the running job, in one word: bit 0 says that it is open, the bits of INSIDE count
 * the workers that came in, and the rest counts the jobs. A worker comes in only while the door is
 * open. The caller closes it when no piece is left, and returns when nobody is inside; so a worker
 * that wakes late can neither hold a job up nor meet the data of an old one. */
typedef uint64_t Door;
#define OPEN ((Door)1)
#define ONE_INSIDE ((Door)2)
#define INSIDE ((Door)0xfffe)
#define ONE_JOB ((Door)0x10000)
#define JOB(door) ((door) / ONE_JOB)

typedef struct {
    _Alignas(LINE) pthread_mutex_t mutex;
    pthread_cond_t wake;
    atomic_bool asleep;
    int index; /* from 1; 0 is the caller */
    Door seen; /* the number of the last job that this worker has to do with */
} Worker;

static Worker workers[MOST_THREADS];
static int started = 0;          /* workers that exist; changed only by who has `busy` */
static atomic_int threads = 1;   /* the wanted size, with the caller */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* The running job: written while the door is closed and nobody is inside. */
static struct {
    Body body;
    const void *args;
    int64_t count, piece;
    int helpers;
} job;

static _Alignas(LINE) _Atomic Door door = 0;
static _Alignas(LINE) _Atomic int64_t next_piece = 0;
static atomic_int next_wake = 0;
static _Alignas(LINE) atomic_bool caller_sleeps = false;
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

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* To wake a sleeper may take 40 us on a virtual machine. So nobody wakes all the others: each thread
 * wakes one before each of its pieces, as long as pieces and sleepers are left. */
static void wake_another(void) {
    while (atomic_load_explicit(&next_wake, memory_order_relaxed) <= job.helpers) {
        int i = atomic_fetch_add_explicit(&next_wake, 1, memory_order_relaxed);
        if (i > job.helpers) return;
        Worker *w = &workers[i];
        if (!atomic_exchange(&w->asleep, false)) continue; /* it is awake, and will see the job */
        pthread_mutex_lock(&w->mutex);
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->mutex);
        return;
    }
}

/* Works until no piece is left; how many of 0 .. count it did. */
static int64_t work(void) {
    for (int64_t done = 0;;) {
        int64_t first = atomic_fetch_add_explicit(&next_piece, job.piece, memory_order_relaxed);
        int64_t last = least(first + job.piece, job.count);
        if (first >= job.count) return done;
        if (last < job.count) wake_another();
        job.body(job.args, first, last);
        done += last - first;
    }
}

/* ---- what bodies cost: guesses, which may be lost or mixed up without harm ---- */

enum { COSTS = 256 };
static _Atomic int64_t costs[COSTS]; /* picoseconds for one of 0 .. count, + 1; 0: not known */

static _Atomic int64_t *cost_of(Body body) {
    return &costs[((uintptr_t)body * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

/* Goes up at once and down slowly: to call for help in vain costs little, the reverse may not. */
static void learn(Body body, int64_t ns, int64_t done) {
    if (done == 0) return;
    _Atomic int64_t *cost = cost_of(body);
    int64_t old = atomic_load_explicit(cost, memory_order_relaxed);
    int64_t new = 1 + (int64_t)(1000.0 * (double)ns / (double)done);
    if (new < old) new = old - (old - new + 3) / 4;
    atomic_store_explicit(cost, new, memory_order_relaxed);
}

/* ---- a worker ---- */

static bool has_news(const Worker *w) {
    Door d = atomic_load(&door);
    return (d & OPEN) && JOB(d) != w->seen;
}

static void wait_for_news(Worker *w) {
    int64_t limit = now() + SPIN_NS;
    do {
        if (has_news(w)) return;
        pause_briefly();
    } while (now() < limit);
    pthread_mutex_lock(&w->mutex);
    for (;;) {
        atomic_store(&w->asleep, true); /* before the last look: a caller opens, then looks */
        if (has_news(w)) break;
        pthread_cond_wait(&w->wake, &w->mutex);
    }
    atomic_store(&w->asleep, false);
    pthread_mutex_unlock(&w->mutex);
}

static bool come_in(Worker *w) {
    Door d = atomic_load(&door);
    do {
        if (!(d & OPEN) || JOB(d) == w->seen) return false;
    } while (!atomic_compare_exchange_weak(&door, &d, d + ONE_INSIDE));
    w->seen = JOB(d);
    return true;
}

static void go_out(void) {
    Door d = atomic_fetch_sub(&door, ONE_INSIDE) - ONE_INSIDE;
    if ((d & (OPEN | INSIDE)) || !atomic_load(&caller_sleeps)) return;
    pthread_mutex_lock(&caller_mutex);
    pthread_cond_signal(&caller_wake);
    pthread_mutex_unlock(&caller_mutex);
}

static void *worker_main(void *pointer) {
    Worker *w = pointer;
    for (;;) {
        wait_for_news(w);
        if (!come_in(w)) continue;
        if (w->index <= job.helpers) work();
        go_out();
    }
    return 0;
}

/* ---- the caller ---- */

static void reset_in_child(void) { /* only the forking thread lives on */
    started = 0;
    atomic_store(&door, 0);
    atomic_store(&caller_sleeps, false);
    pthread_mutex_init(&caller_mutex, 0);
    pthread_cond_init(&caller_wake, 0);
    atomic_flag_clear(&busy);
}

static bool start_worker(const pthread_attr_t *attributes, int index) {
    pthread_t thread;
    Worker *w = &workers[index];
    pthread_mutex_init(&w->mutex, 0);
    pthread_cond_init(&w->wake, 0);
    atomic_store(&w->asleep, false);
    w->index = index;
    w->seen = JOB(atomic_load(&door));
    return pthread_create(&thread, attributes, worker_main, w) == 0;
}

static void start_workers(int wanted) {
    static bool watches_fork = false;
    if (!watches_fork) watches_fork = pthread_atfork(0, 0, reset_in_child) == 0;
    sigset_t all, old; /* signals are for the threads of the program */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started < wanted && start_worker(&attributes, started + 1)) started++;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, 0);
}

static bool all_out(void) { return !(atomic_load(&door) & INSIDE); }

static void wait_until_all_out(void) {
    if (all_out()) return;
    int64_t limit = now() + SPIN_NS;
    do {
        pause_briefly();
        if (all_out()) return;
    } while (now() < limit);
    pthread_mutex_lock(&caller_mutex);
    atomic_store(&caller_sleeps, true); /* before the last look: a worker leaves, then looks */
    while (!all_out()) pthread_cond_wait(&caller_wake, &caller_mutex);
    atomic_store(&caller_sleeps, false);
    pthread_mutex_unlock(&caller_mutex);
}

/* Runs a job that should be short, in growing pieces until it has proved to be long; where it
 * stopped. */
static int64_t run_alone(Body body, const void *args, int64_t count) {
    int64_t start = now(), passed = 0, done = 0;
    for (int64_t size = 1; done < count && passed < ALONE_NS; size *= 2) {
        int64_t last = least(done + size, count);
        body(args, done, last);
        done = last;
        passed = now() - start;
    }
    learn(body, passed, done);
    return done;
}

static void run_together(Body body, const void *args, int64_t first, int64_t count, int64_t piece) {
    int64_t pieces = (count - first + piece - 1) / piece;
    int64_t helpers = least(atomic_load(&threads) - 1, pieces - 1);
    if (started < helpers) start_workers((int)helpers);
    job.body = body;
    job.args = args;
    job.count = count;
    job.piece = piece;
    job.helpers = (int)least(helpers, started);
    atomic_store(&next_piece, first);
    atomic_store(&next_wake, 1);
    atomic_fetch_add(&door, ONE_JOB + OPEN);
    int64_t start = now(), done = work();
    learn(body, now() - start, done);
    atomic_fetch_sub(&door, OPEN);
    wait_until_all_out();
}

/* Sets the number of threads, the caller's among them, if n > 0. The number there is now. */
int pycu2c_pool_size(int n) {
    if (n > 0) atomic_store(&threads, (int)least(n, MOST_THREADS));
    return atomic_load(&threads);
}

/* Runs body over 0 .. count in pieces, in no particular order, and returns when all is done. */
int pycu2c_parallel(Body body, const void *args, int64_t count) {
    int64_t size = atomic_load(&threads), done = 0;
    int64_t cost = atomic_load_explicit(cost_of(body), memory_order_relaxed);
    if (size == 1 || count <= 1) {
        if (count > 0) body(args, 0, count);
        return 0;
    }
    if (cost > 0 && (double)cost * (double)count < 1e3 * ALONE_NS) {
        done = run_alone(body, args, count);
        if (done == count) return 0;
    }
    if (done + 1 == count || atomic_flag_test_and_set(&busy)) {
        body(args, done, count);
        return 0;
    }
    int64_t shortest = cost > 0 ? INT64_C(1000) * PIECE_NS / cost : count;
    int64_t longest = most(1, (count - done) / (size * PIECES_PER_THREAD));
    run_together(body, args, done, count, most(1, least(shortest, longest)));
    atomic_flag_clear(&busy);
    return 0;
}
