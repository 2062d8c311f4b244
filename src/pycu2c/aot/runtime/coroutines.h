/* Run kernels whose threads are coroutines, with the scheduler of NAME_coroutines.c.
 *
 * PYCU2C_COROUTINES(name) is the name of a function of the scheduler. run_coroutines returns 0, or the
 * reason why the kernel was aborted: 64 for a deadlock, 65 for too little memory.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <pthread.h>
#include <stdint.h>

typedef int run_in_parallel(kernel_body *, const void *, int64_t);
typedef void announce_callee(const void *);

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

static void ignore_callee(const void *function) {
    (void)function;
}

static void set_pools(void) {
    PYCU2C_COROUTINES(set_scheduler_pool)(run_blocks, ignore_callee);
}

/* Let the schedulers use the pool of this library. */
static void use_pool(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_pools);
}
