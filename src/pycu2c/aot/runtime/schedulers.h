/* Run kernels whose threads synchronize, with schedulers in other files of the library.
 *
 * Threads of Python kernels are coroutines (NAME_coroutines.c); those of kernels in CUDA C are fibers,
 * with stacks of their own (NAME_fibers.c). PYCU2C_COROUTINES(name) and PYCU2C_FIBERS(name) are the
 * names of functions of the schedulers. They return 0, or the reason why the kernel was aborted: 64 for a
 * deadlock, 65 for too little memory, 66 for a failed assert, 67 for __trap.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <pthread.h>
#include <stdint.h>

typedef int run_in_parallel(kernel_body *, const void *, int64_t);
typedef void announce_callee(const void *);

#ifdef PYCU2C_COROUTINES
struct coroutine_kernel;

/* Memory that threads may poll for values of others. */
struct watched_memory {
    const char *begin;
    int64_t size;
};

int PYCU2C_COROUTINES(run_coroutines)(const struct coroutine_kernel *kernel, const void *arguments,
                                      int64_t blocks);
void PYCU2C_COROUTINES(set_memory)(const struct watched_memory *regions, int64_t count);
void PYCU2C_COROUTINES(set_scheduler_pool)(run_in_parallel *run, announce_callee *announce);
#endif

#ifdef PYCU2C_FIBERS
struct fiber_kernel;
typedef int fiber_scheduler(const struct fiber_kernel *kernel, const void *arguments, int64_t blocks);

fiber_scheduler PYCU2C_FIBERS(run_fibers), PYCU2C_FIBERS(run_split);
void PYCU2C_FIBERS(set_fiber_pool)(run_in_parallel *run, announce_callee *announce);
#endif

static void ignore_callee(const void *function) {
    (void)function;
}

static void set_pools(void) {
#ifdef PYCU2C_COROUTINES
    PYCU2C_COROUTINES(set_scheduler_pool)(run_blocks, ignore_callee);
#endif
#ifdef PYCU2C_FIBERS
    PYCU2C_FIBERS(set_fiber_pool)(run_blocks, ignore_callee);
#endif
}

/* Let the schedulers use the pool of this library. */
static void use_pool(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_pools);
}
