/* Run kernels whose threads are coroutines, with the scheduler in NAME_coroutines.c.
 *
 * PYCU2C_COROUTINES(name) is the name of a function of the scheduler.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <pthread.h>
#include <stdint.h>

struct coroutine_kernel;

/* Memory that threads may poll for values of others. */
struct watched_memory {
    const char *begin;
    int64_t size;
};

typedef int run_in_parallel(kernel_body *, const void *, int64_t);

int PYCU2C_COROUTINES(run_coroutines)(const struct coroutine_kernel *kernel, const void *arguments,
                                      int64_t blocks);
void PYCU2C_COROUTINES(set_memory)(const struct watched_memory *regions, int64_t count);
void PYCU2C_COROUTINES(set_scheduler_pool)(run_in_parallel *run, void (*announce)(const void *));

static void ignore_callee(const void *function) {
    (void)function;
}

static void set_pool(void) {
    PYCU2C_COROUTINES(set_scheduler_pool)(run_blocks, ignore_callee);
}

/* Return 0, or why the kernel has not ended: 64 for a deadlock, 65 for too little memory. */
static int schedule(const struct coroutine_kernel *kernel, const void *arguments, int64_t blocks,
                    const struct watched_memory *regions, int64_t count) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_pool);
    PYCU2C_COROUTINES(set_memory)(regions, count);
    return PYCU2C_COROUTINES(run_coroutines)(kernel, arguments, blocks);
}
