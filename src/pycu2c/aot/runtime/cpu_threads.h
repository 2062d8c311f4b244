/* Run the blocks of a kernel on the cores of the processor.
 *
 * PYCU2C_THREADING selects the threads: 0 for the calling thread, 1 for a pool of POSIX threads, 2 for
 * OpenMP. The environment variable PYCU2C_THREADS sets the number of threads of the pool.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#ifndef PYCU2C_THREADING
#define PYCU2C_THREADING 1
#endif

#if PYCU2C_THREADING == 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#endif
#include <stdint.h>

#if PYCU2C_THREADING != 1
static const char *invalid_thread_limit(void) {
    return NULL;
}
#endif

/* Execute the blocks from `first` to `last` - 1. */
typedef void kernel_body(const void *arguments, int64_t first, int64_t last);

#if PYCU2C_THREADING == 0

static int run_blocks(kernel_body *body, const void *arguments, int64_t count) {
    body(arguments, 0, count);
    return 0;
}

#elif PYCU2C_THREADING == 2

static int run_blocks(kernel_body *body, const void *arguments, int64_t count) {
    const int64_t chunk = count / 512 + 1;
    #pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < count; first += chunk)
        body(arguments, first, first + chunk < count ? first + chunk : count);
    return 0;
}

#else

enum { MAX_WORKERS = 1023, CHUNKS_OF_THREAD = 8, SPINS = 2000 };

struct job {
    kernel_body *body;
    const void *arguments;
    int64_t count, chunk;
    atomic_int_least64_t next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_job, is_done;
    struct job *job; /* that workers may join */
    int workers, active;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, -1, 0};
static atomic_uint_least64_t job_number = 0;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

static void run_chunks(struct job *job) {
    for (;;) {
        const int64_t first = atomic_fetch_add(&job->next, job->chunk);
        if (first >= job->count) return;
        const int64_t last = first + job->chunk;
        job->body(job->arguments, first, last < job->count ? last : job->count);
    }
}

/* Spin until there is a job or a limit is reached: waking a thread takes tens of microseconds. */
static void spin(uint64_t seen) {
    for (int i = 0; i < SPINS && atomic_load_explicit(&job_number, memory_order_relaxed) == seen; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

static void *work(void *unused) {
    uint64_t seen = 0;
    (void)unused;
    for (;;) {
        spin(seen);
        pthread_mutex_lock(&pool.lock);
        while (!pool.job || atomic_load(&job_number) == seen)
            pthread_cond_wait(&pool.has_job, &pool.lock);
        struct job *const job = pool.job;
        seen = atomic_load(&job_number);
        pool.active++;
        pthread_mutex_unlock(&pool.lock);
        run_chunks(job);
        pthread_mutex_lock(&pool.lock);
        if (--pool.active == 0) pthread_cond_signal(&pool.is_done);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* Reset the pool in a forked child, which has no workers. */
static void forget_workers(void) {
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.has_job, NULL);
    pthread_cond_init(&pool.is_done, NULL);
    pool.job = NULL;
    pool.workers = -1;
    pool.active = 0;
    atomic_flag_clear(&is_busy);
}

/* Return the environment variable if it is no number of threads, or NULL. */
static const char *invalid_thread_limit(void) {
    static atomic_bool is_valid = false;
    if (atomic_load_explicit(&is_valid, memory_order_relaxed)) return NULL;
    const char *const setting = getenv("PYCU2C_THREADS");
    char *end = NULL;
    if (setting && *setting && (strtol(setting, &end, 10) <= 0 || *end)) return setting;
    atomic_store_explicit(&is_valid, true, memory_order_relaxed);
    return NULL;
}

static int wanted_workers(void) {
    cpu_set_t cores;
    const char *const setting = getenv("PYCU2C_THREADS");
    long threads = setting ? strtol(setting, NULL, 10) : 0;
    if (threads <= 0) threads = sched_getaffinity(0, sizeof cores, &cores) ? 1 : CPU_COUNT(&cores);
    return threads > MAX_WORKERS ? MAX_WORKERS : (int)threads - 1;
}

static void start_workers(void) {
    static bool has_handler = false; /* the handler of a parent is inherited */
    pthread_attr_t attributes;
    if (!has_handler) pthread_atfork(NULL, NULL, forget_workers);
    has_handler = true;
    pool.workers = 0;
    if (pthread_attr_init(&attributes)) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before; /* workers handle no signals */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (const int wanted = wanted_workers(); pool.workers < wanted; pool.workers++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, work, NULL)) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Run blocks in the pool, or in the calling thread if another launch uses the pool. */
static int run_blocks(kernel_body *body, const void *arguments, int64_t count) {
    if (count < 2 || atomic_flag_test_and_set(&is_busy)) {
        body(arguments, 0, count);
        return 0;
    }
    struct job job = {body, arguments, count, 1, 0};
    pthread_mutex_lock(&pool.lock);
    if (pool.workers < 0) start_workers();
    job.chunk = count / ((int64_t)(pool.workers + 1) * CHUNKS_OF_THREAD) + 1;
    pool.job = &job;
    atomic_fetch_add(&job_number, 1);
    pthread_cond_broadcast(&pool.has_job);
    pthread_mutex_unlock(&pool.lock);
    run_chunks(&job);
    pthread_mutex_lock(&pool.lock);
    pool.job = NULL;
    while (pool.active) pthread_cond_wait(&pool.is_done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    atomic_flag_clear(&is_busy);
    return 0;
}

#endif
