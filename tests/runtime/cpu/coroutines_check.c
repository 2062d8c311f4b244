/* Launches a kernel whose threads run in steps, on the pool: every kind of wait. The text of the
 * kernel, `every_wait`, comes before this one. */
#include <stdio.h>

int pycu2c_pool_size(int n);
int pycu2c_parallel(void (*body)(const void *, int64_t, int64_t), const void *args, int64_t count);
void pycu2c_pool_announce_callee(const void *callee);
int pycu2c_run_coroutines(const struct coroutine_kernel *kernel, const void *arguments, int64_t blocks);
void pycu2c_set_scheduler_pool(int (*run)(void (*)(const void *, int64_t, int64_t), const void *, int64_t),
                     void (*call)(const void *));

enum { BLOCKS = 24, THREADS = 70, LAUNCHES = 10 };

int main(void) {
    pycu2c_pool_size(4);
    pycu2c_set_scheduler_pool(pycu2c_parallel, pycu2c_pool_announce_callee);
    for (int i = 0; i < LAUNCHES; i++) {
        int64_t ticket[1] = {0}, out[2] = {0, 0};
        struct every_wait_args args = {.gridDim = {BLOCKS / 4, 2, 2}, .blockDim = {THREADS, 1, 1}};
        args.shared_bytes = THREADS * sizeof(int64_t);
        args.p0_data0 = ticket;
        args.p1_data0 = out;
        int code = pycu2c_run_coroutines(&every_wait, &args, BLOCKS);
        if (code || ticket[0] != BLOCKS || out[0] != BLOCKS * THREADS) {
            printf("code %d, ticket %ld, out %ld\n", code, (long)ticket[0], (long)out[0]);
            return 1;
        }
    }
    printf("ok\n");
    return 0;
}
