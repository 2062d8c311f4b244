/* Launches a kernel whose blocks wait for each other, in one OS thread, which begins them in the
 * order that is asked for: forward, backward or shuffled. Prints how often blocks looked at memory
 * in vain. The text of the kernel, `waits_for_one`, comes before this one. */
#include <stdio.h>
#include <string.h>

typedef void (*Body)(const void *, int64_t, int64_t);

int pycu2c_run_coroutines(const struct coroutine_kernel *kernel, const void *arguments, int64_t blocks);
void pycu2c_set_scheduler_pool(int (*run)(Body, const void *, int64_t), void (*call)(const void *));
const int64_t *pycu2c_report(void);

enum { BLOCKS = 2000 };

static const char *order;
static int64_t places[BLOCKS];

static void make_places(int64_t count) {
    uint64_t random = 1;
    for (int64_t i = 0; i < count; i++) places[i] = *order == 'b' ? count - 1 - i : i;
    for (int64_t i = count - 1; *order == 's' && i > 0; i--) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int64_t other = (random >> 33) % (i + 1), place = places[i];
        places[i] = places[other];
        places[other] = place;
    }
}

static int one_by_one(Body body, const void *args, int64_t count) {
    make_places(count);
    for (int64_t i = 0; i < count; i++) body(args, places[i], places[i] + 1);
    return 0;
}

static void no_call(const void *function) { (void)function; }

int main(int count, char **words) {
    static int64_t flags[BLOCKS + 1] = {1}, out[BLOCKS + 1];
    struct waits_for_one_args args = {.gridDim = {BLOCKS, 1, 1}, .blockDim = {32, 1, 1}};
    order = count > 1 ? words[1] : "forward";
    args.p0_data0 = flags;
    args.p1_data0 = out;
    pycu2c_set_scheduler_pool(one_by_one, no_call);
    const int code = pycu2c_run_coroutines(&waits_for_one, &args, BLOCKS);
    if (code || out[BLOCKS] != BLOCKS) return 1;
    printf("%.1f\n", (double)pycu2c_report()[0] / BLOCKS);
    return 0;
}
