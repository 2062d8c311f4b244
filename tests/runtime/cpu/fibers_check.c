/* Comes after the text of runtime/fibers.py: three blocks of 64 threads that meet, without Python. */
static int sums[64], ended;

static void begin(const void *arguments, int64_t block) { (void)arguments, (void)block; }

static void add_up(void **given, uint32_t lanes) {
    int sum = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) sum += *(int *)given[__builtin_ctz(rest)];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) *(int *)given[__builtin_ctz(rest)] = sum;
}

/* Yield while all other threads wait, at other depths of the stack than before. */
__attribute__((noinline)) static int yield_alone(int depth) {
    volatile int kept = depth;
    pycu2c_services.yield();
    return depth ? yield_alone(depth - 1) + kept : 0;
}

static void thread(int32_t i) {
    volatile double kept = i * 1.5; /* in a register that a switch has to keep, or on the stack */
    double x = kept;
    pycu2c_services.sync_block(0, 1);
    int value = i;
    pycu2c_services.sync_warp(0xffffffff, &value, add_up, 2);
    if (i == 7 && yield_alone(3) != 6) return;
    int odd = pycu2c_services.sync_block(i % 2, 3);
    sums[i] = value + odd + (int)(2 * x) - 3 * i;
    ended++;
}

static int in_turn(void (*body)(const void *, int64_t, int64_t), const void *launch, int64_t count) {
    body(launch, 0, count);
    return 0;
}

static void ignore(const void *function) { (void)function; }

int main(void) {
    struct {
        int32_t grid[3], block[3];
        int64_t shared_bytes;
    } head = {{3, 1, 1}, {64, 1, 1}, 0};
    Kernel kernel = {begin, thread};
    pycu2c_set_fiber_pool(in_turn, ignore);
    int code = pycu2c_run_fibers(&kernel, &head, 3);
    printf("%d %d %d %d\n", code, ended, sums[0], sums[63]);
    return 0;
}
