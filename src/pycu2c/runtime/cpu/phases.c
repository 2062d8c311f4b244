/* Launches of kernels whose threads have their own stacks. The text of fibers.c precedes this one. */

/* ---- blocks that wait for each other: interleaved in one OS thread ---- */

typedef struct {
    const void *function; /* an address in the library */
    char *memory;
    size_t size;
} ThreadLocals;

#if defined(__linux__)
static int find_thread_locals(struct dl_phdr_info *library, size_t size, void *data) {
    ThreadLocals *own = data;
    bool found = false;
    (void)size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uintptr_t begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        if (library->dlpi_phdr[i].p_type == PT_LOAD)
            found |= (uintptr_t)own->function - begin < library->dlpi_phdr[i].p_memsz;
    }
    for (int i = 0; found && i < library->dlpi_phnum; i++) {
        if (library->dlpi_phdr[i].p_type != PT_TLS) continue;
        own->memory = library->dlpi_tls_data;
        own->size = library->dlpi_phdr[i].p_memsz;
    }
    return found;
}
#endif

static ThreadLocals thread_locals(const Kernel *kernel) {
    ThreadLocals own = {(const void *)(uintptr_t)kernel->thread, 0, 0};
#if defined(__linux__)
    dl_iterate_phdr(find_thread_locals, &own);
#endif
    return own;
}

static void run_phases(Launch *l, BlockState **states, char *saved_locals, int64_t blocks) {
    const ThreadLocals own = thread_locals(l->kernel);
    for (bool can_continue = true; can_continue && !atomic_load(&l->code);) {
        can_continue = false;
        int64_t waiting = 0, ended = 0;
        for (int64_t b = 0; b < blocks && !atomic_load(&l->code); b++) {
            if (states[b]->status == ENDED) {
                ended++;
                continue;
            }
            if (own.size && states[b]->status == GRID)
                memcpy(own.memory, saved_locals + (size_t)b * own.size, own.size);
            l->kernel->begin(l->arguments, b);
            for (uint32_t w = 0; states[b]->status == GRID && w < states[b]->warps; w++) {
                make_ready(states[b], (int32_t)w, states[b]->at_grid[w]);
                states[b]->at_grid[w] = 0;
            }
            states[b]->arrived_at_grid = 0;
            run_threads(states[b]);
            if (own.size) memcpy(saved_locals + (size_t)b * own.size, own.memory, own.size);
            waiting += states[b]->status == GRID;
            ended += states[b]->status == ENDED;
        }
        if (waiting + ended == blocks) can_continue = waiting > 0;
        else if (!atomic_load(&l->code)) atomic_store(&l->code, DEADLOCK_CODE);
    }
    if (atomic_load(&l->code) != DEADLOCK_CODE) return;
    for (int64_t b = 0; b < blocks; b++)
        if (states[b]->status != ENDED) report_block(states[b], b);
}

static void run_interleaved(const void *launch_pointer, int64_t first, int64_t last) {
    Launch *l = (Launch *)launch_pointer;
    (void)first, (void)last;
    launch = l;
    const int32_t *grid = l->arguments;
    int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
    BlockState **states = calloc((size_t)blocks, sizeof *states);
    l->kernel->begin(l->arguments, 0); /* allocates thread-local memory */
    char *saved_locals = malloc((size_t)blocks * thread_locals(l->kernel).size + 1);
    bool has_memory = states && saved_locals;
    for (int64_t b = 0; has_memory && b < blocks; b++) {
        states[b] = calloc(1, sizeof **states);
        has_memory = states[b];
        if (has_memory) init_block(states[b], l->kernel, l->threads);
    }
    if (has_memory) run_phases(l, states, saved_locals, blocks);
    else atomic_store(&l->code, MEMORY_CODE);
    for (int64_t b = 0; states && b < blocks && states[b]; b++) {
        release_stacks(states[b]);
        free(states[b]);
    }
    free(states);
    free(saved_locals);
    if (reused_block) release_stacks(reused_block); /* an earlier launch may have been stopped */
    trim_stacks();
}

/* ---- interface ---- */

typedef int (*Parallel)(void (*)(const void *, int64_t, int64_t), const void *, int64_t);
static Parallel parallel;
static void (*announce_callee)(const void *);

void pycu2c_set_fiber_pool(Parallel run, void (*call)(const void *)) {
    parallel = run;
    announce_callee = call;
}

static int run_in_pool(void (*body)(const void *, int64_t, int64_t), const Kernel *kernel,
                  const void *arguments, int64_t count) {
    const int32_t *block = (const int32_t *)arguments + 3; /* after the grid, as in LAUNCH_HEADER */
    Launch l = {.kernel = kernel, .arguments = arguments};
    l.threads = block[0] * block[1] * block[2];
    announce_callee((const void *)(uintptr_t)kernel->thread);
    int ended = parallel(body, &l, count);
    fflush(stdout);
    return ended ? ended : atomic_load(&l.code);
}

/* Run all blocks of a launch. Return 0, the code of the pool if it ended the run, or a code of this
 * file. */
int pycu2c_run_fibers(const Kernel *kernel, const void *arguments, int64_t blocks) {
    return run_in_pool(run_blocks, kernel, arguments, blocks);
}

/* The same for a launch whose blocks wait for each other. */
int pycu2c_run_interleaved_fibers(const Kernel *kernel, const void *arguments, int64_t blocks) {
    (void)blocks;
    return run_in_pool(run_interleaved, kernel, arguments, 1);
}

/* Copy the reports of deadlocks since the last call; return their number. */
int64_t pycu2c_fibers_report(BlockReport *to) {
    pthread_mutex_lock(&report_mutex);
    int64_t count = report.count;
    memcpy(to, report.blocks, (size_t)count * sizeof *to);
    report.count = 0;
    pthread_mutex_unlock(&report_mutex);
    return count;
}
