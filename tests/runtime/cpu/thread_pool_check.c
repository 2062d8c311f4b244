/* A program of its own, so that ThreadSanitizer can watch the pool: prints what went wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int pycu2c_parallel(void (*body)(const void *, int64_t, int64_t), const void *args, int64_t count);
int pycu2c_grid(void (*body)(const void *, int64_t, int64_t), const void *args, int64_t count);
int pycu2c_grid_by_copies(void (*body)(const void *, int64_t, int64_t), const void *args,
                          int64_t count);
int pycu2c_pool_size(int n);
void pycu2c_pool_set_owner(pthread_t thread, int (*ask)(void));

enum { MOST = 5000 };

/* Plain ints: two threads on one element, or a result not yet visible, are races. */
typedef struct {
    int *hits;
    int work;
} Args;

static void count_hits(const void *pointer, int64_t first, int64_t last) {
    const Args *args = pointer;
    for (int64_t i = first; i < last; i++) {
        volatile double x = 1;
        for (int k = 0; k < args->work; k++) x = x * 1.000001 + 1;
        args->hits[i]++;
    }
}

static void nest(const void *pointer, int64_t first, int64_t last) {
    const Args *args = pointer;
    for (int64_t i = first; i < last; i++) {
        Args inner = {args->hits + i * 10, args->work};
        pycu2c_parallel(count_hits, &inner, 10);
    }
}

static void check(const int *hits, int64_t count, int expected, const char *what) {
    for (int64_t i = 0; i < count; i++) {
        if (hits[i] == expected) continue;
        printf("%s: element %ld of %ld ran %d times\n", what, (long)i, (long)count, hits[i]);
        exit(1);
    }
}

enum { ROW = 12, ROWS = 400 };

typedef struct {
    int32_t row; /* where the pool looks for it */
    Args args;
    atomic_int cut;
} Grid;

static void look_for_cuts(const void *pointer, int64_t first, int64_t last) {
    const Grid *grid = pointer;
    if (first % ROW || last % ROW) atomic_fetch_add(&((Grid *)grid)->cut, 1);
    count_hits(&grid->args, first, last);
}

static void run_rows(void) {
    int hits[ROW * ROWS] = {0};
    Grid grid = {ROW, {hits, 100}, 0};
    for (int launch = 0; launch < 4; launch++) pycu2c_grid(look_for_cuts, &grid, ROW * ROWS);
    check(hits, ROW * ROWS, 4, "rows");
    if (!grid.cut) return;
    printf("%d pieces have parts of rows\n", grid.cut);
    exit(1);
}

static void count_pieces(const void *pointer, int64_t first, int64_t last) {
    const Grid *grid = pointer;
    atomic_fetch_add(&((Grid *)grid)->cut, 1);
    count_hits(&grid->args, first, last);
}

/* Each thread has two pieces, and one what is left. */
static void run_by_copies(int threads) {
    enum { LAUNCHES = 4 };
    int hits[ROW * ROWS] = {0};
    Grid grid = {ROW, {hits, 100}, 0};
    for (int i = 0; i < LAUNCHES; i++) pycu2c_grid_by_copies(count_pieces, &grid, ROW * ROWS);
    check(hits, ROW * ROWS, LAUNCHES, "by copies");
    if (grid.cut <= LAUNCHES * (2 * threads + 1)) return;
    printf("%d pieces for %d threads\n", grid.cut, threads);
    exit(1);
}

static void run_all(int rounds) {
    static const int64_t counts[] = {0, 1, 2, 3, 7, 64, 1000, MOST};
    int *hits = calloc(MOST, sizeof *hits);
    for (int round = 0; round < rounds; round++) {
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            Args args = {hits, round % 3 == 0 ? 200 : 0};
            for (int64_t i = 0; i < MOST; i++) hits[i] = 0;
            pycu2c_parallel(count_hits, &args, counts[c]);
            check(hits, counts[c], 1, "plain");
        }
        for (int64_t i = 0; i < MOST; i++) hits[i] = 0;
        Args args = {hits, 50};
        pycu2c_parallel(nest, &args, MOST / 10);
        check(hits, MOST, 1, "nested");
    }
    free(hits);
}

/* ---- launches that end before their bodies do ---- */

static int questions = 0; /* only the owner counts them */
static atomic_long turns;

static int ends_at_second_question(void) { return ++questions == 2; }

#ifdef __SANITIZE_THREAD__ /* holds signals back until the body calls something: it must return */
enum { TURNS = 2000000, FEWEST = 1000 };
#else
enum { TURNS = 0, FEWEST = 1 };
#endif

static void go_on_for_ever(const void *pointer, int64_t first, int64_t last) {
    (void)pointer, (void)first, (void)last;
    for (long turn = 0; !TURNS || turn < TURNS; turn += TURNS > 0) atomic_fetch_add(&turns, 1);
}

static void end_all(void) {
    static const int64_t counts[] = {1, 2, 5, 1000};
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        questions = 0;
        if (counts[c] < FEWEST) continue;
        if (pycu2c_parallel(go_on_for_ever, 0, counts[c]) != 1 || questions < 2) {
            printf("%ld bodies did not end as they should\n", (long)counts[c]);
            exit(1);
        }
        run_all(1);
    }
}

static void *run_in_thread(void *rounds) {
    run_all(*(int *)rounds);
    return 0;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    static const int sizes[] = {1, 2, 4, 3, 8, 2, 4}; /* up and down */
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        pycu2c_pool_size(sizes[s]);
        run_all(rounds);
        run_rows();
        run_by_copies(sizes[s]);
        usleep(2000); /* so that the next launch finds sleepers */
    }
    pycu2c_pool_set_owner(pthread_self(), ends_at_second_question);
    end_all();
    questions = 2;
    pthread_t callers[3];
    for (int i = 0; i < 3; i++) pthread_create(&callers[i], 0, run_in_thread, &rounds);
    for (int i = 0; i < 3; i++) pthread_join(callers[i], 0);
    puts("ok");
    return 0;
}
