/* A program of generated kernels, so that sanitizers and other machines can run them: reads launches
 * and what they should give from a file that tests/support/golden_programs.py writes, and prints what is
 * wrong. Its arrays end where the kernels' do. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Body)(const void *, int64_t, int64_t);
int pycu2c_parallel(Body body, const void *args, int64_t count);
int pycu2c_pool_size(int n);

extern const struct {
    const char *name;
    Body body;
} kernels[];
extern const int kernel_count;

enum { MOST_ARRAYS = 16, CALLERS = 3 };

typedef struct {
    int64_t offset, size, kind; /* 4: float32, 8: float64, 0: whole numbers */
    unsigned char *before, *after;
} Array;

typedef struct {
    int64_t blocks, packed_size, arrays;
    unsigned char *packed;
    Array array[MOST_ARRAYS];
} Launch;

static Launch *launches;

static void *take(FILE *file, int64_t size) {
    void *data = malloc((size_t)size);
    if (fread(data, 1, (size_t)size, file) != (size_t)size) exit(3);
    return data;
}

static void read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) exit(3);
    launches = calloc((size_t)kernel_count, sizeof *launches);
    for (int k = 0; k < kernel_count; k++) {
        Launch *l = &launches[k];
        if (fread(l, 8, 3, file) != 3 || l->arrays > MOST_ARRAYS) exit(3);
        l->packed = take(file, l->packed_size);
        for (int64_t i = 0; i < l->arrays; i++) {
            Array *a = &l->array[i];
            if (fread(a, 8, 3, file) != 3) exit(3);
            a->before = take(file, a->size);
            a->after = take(file, a->size);
        }
    }
    fclose(file);
}

static int is_near(double found, double expected, double tolerance) {
    if (found != found || expected != expected) return found != found && expected != expected;
    return fabs(found - expected) <= tolerance * (1 + fabs(expected));
}

static int is_same(const Array *a, const unsigned char *found) {
    for (int64_t i = 0; a->kind == 4 && i < a->size; i += 4) {
        float x, y;
        memcpy(&x, found + i, 4);
        memcpy(&y, a->after + i, 4);
        if (!is_near(x, y, 2e-5)) return 0;
    }
    for (int64_t i = 0; a->kind == 8 && i < a->size; i += 8) {
        double x, y;
        memcpy(&x, found + i, 8);
        memcpy(&y, a->after + i, 8);
        if (!is_near(x, y, 1e-12)) return 0;
    }
    return a->kind || memcmp(found, a->after, (size_t)a->size) == 0;
}

static void run(int k) {
    const Launch *l = &launches[k];
    unsigned char *packed = malloc((size_t)l->packed_size);
    unsigned char *data[MOST_ARRAYS];
    memcpy(packed, l->packed, (size_t)l->packed_size);
    for (int64_t i = 0; i < l->arrays; i++) {
        data[i] = malloc((size_t)l->array[i].size);
        memcpy(data[i], l->array[i].before, (size_t)l->array[i].size);
        memcpy(packed + l->array[i].offset, &data[i], sizeof data[i]);
    }
    if (pycu2c_parallel(kernels[k].body, packed, l->blocks) != 0) exit(4);
    for (int64_t i = 0; i < l->arrays; i++) {
        if (!is_same(&l->array[i], data[i])) {
            printf("%s: array %d is not as it should be\n", kernels[k].name, (int)i);
            exit(1);
        }
        free(data[i]);
    }
    free(packed);
}

static void *run_all(void *nothing) {
    for (int k = 0; k < kernel_count; k++) run(k);
    return nothing;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    read_all(argv[1]);
    for (int size = 1; size <= 4; size *= 2) {
        pycu2c_pool_size(size);
        for (int repeat = 0; repeat < 3; repeat++) run_all(0);
    }
    pthread_t callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) pthread_create(&callers[i], 0, run_all, 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], 0);
    printf("%d kernels\n", kernel_count);
    return 0;
}
