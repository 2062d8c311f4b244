/* Launch a kernel from 64 threads whose first launches are at the same time. */
#define _GNU_SOURCE
#include <pthread.h>

#include "finance.h"

#include "device_memory.h"

enum { THREADS = 64, COUNT = 4096, ROUNDS = 20 };

static pthread_barrier_t start;
static double *values;

static void *launch_often(void *out) {
    int64_t shape[] = {COUNT}, blocks[] = {COUNT / 128};
    const DLTensor a = {values, test_device, 1, {kDLFloat, 64, 1}, shape, NULL, 0};
    const DLTensor to = {out, test_device, 1, {kDLFloat, 64, 1}, blocks, NULL, 0};
    const pycu2c_dim3 grid = {COUNT / 128, 1, 1}, block = {128, 1, 1};
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        const pycu2c_status status = finance_block_sums_launch(&a, &to, 0, grid, block, 0, NULL);
        require(status == PYCU2C_SUCCESS, finance_last_error());
        const pycu2c_dim3 empty = {0, 1, 1}; /* each thread has its own message */
        require(finance_block_sums_launch(&a, &to, 0, empty, block, 0, NULL) == PYCU2C_INVALID_ARGUMENT,
                "a grid without blocks");
    }
    return NULL;
}

int main(int argc, char **argv) {
    static double ones[COUNT], sums[COUNT / 128];
    pthread_t threads[THREADS];
    void *results[THREADS];
    use_device(argc > 1 ? argv[1] : "cpu");
    for (int i = 0; i < COUNT; i++) ones[i] = 1;
    values = on_device(ones, sizeof ones);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        results[i] = on_device(sums, sizeof sums);
        require(pthread_create(&threads[i], NULL, launch_often, results[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        from_device(sums, results[i], sizeof sums);
        for (int k = 0; k < COUNT / 128; k++) require(sums[k] == 128, "a wrong sum");
    }
    from_device(ones, values, sizeof ones);
    return 0;
}
