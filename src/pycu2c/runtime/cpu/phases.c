/* Launches of kernels whose threads have stacks of their own. The text of fibers.c comes before this
 * one. */

/* ---- blocks that wait for each other: all in one OS thread, whose shared memory they take turns
 * with ---- */

typedef struct {
    const void *function; /* of the library, in what it is searched by */
    char *memory;
    size_t size;
} Own;

#if defined(__linux__)
static int find_own(struct dl_phdr_info *library, size_t size, void *data) {
    Own *own = data;
    bool is_it = false;
    (void)size;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        uintptr_t begin = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
        if (library->dlpi_phdr[i].p_type == PT_LOAD)
            is_it |= (uintptr_t)own->function - begin < library->dlpi_phdr[i].p_memsz;
    }
    for (int i = 0; is_it && i < library->dlpi_phnum; i++) {
        if (library->dlpi_phdr[i].p_type != PT_TLS) continue;
        own->memory = library->dlpi_tls_data;
        own->size = library->dlpi_phdr[i].p_memsz;
    }
    return is_it;
}
#endif

static Own own_memory(const Kernel *kernel) {
    Own own = {(const void *)(uintptr_t)kernel->thread, 0, 0};
#if defined(__linux__)
    dl_iterate_phdr(find_own, &own);
#endif
    return own;
}

static void run_phases(Launch *l, Room **rooms, char *kept, int64_t blocks) {
    const Own own = own_memory(l->kernel);
    for (bool goes_on = true; goes_on && !atomic_load(&l->code);) {
        goes_on = false;
        int64_t waiting = 0, ended = 0;
        for (int64_t b = 0; b < blocks && !atomic_load(&l->code); b++) {
            if (rooms[b]->status == ENDED) {
                ended++;
                continue;
            }
            if (own.size && rooms[b]->status == GRID)
                memcpy(own.memory, kept + (size_t)b * own.size, own.size);
            l->kernel->begin(l->arguments, b);
            for (uint32_t w = 0; rooms[b]->status == GRID && w < rooms[b]->warps; w++) {
                make_ready(rooms[b], (int32_t)w, rooms[b]->at_grid[w]);
                rooms[b]->at_grid[w] = 0;
            }
            rooms[b]->arrived_at_grid = 0;
            run_room(rooms[b]);
            if (own.size) memcpy(kept + (size_t)b * own.size, own.memory, own.size);
            waiting += rooms[b]->status == GRID;
            ended += rooms[b]->status == ENDED;
        }
        if (waiting + ended == blocks) goes_on = waiting > 0;
        else if (!atomic_load(&l->code)) atomic_store(&l->code, STUCK_CODE);
    }
    if (atomic_load(&l->code) != STUCK_CODE) return;
    for (int64_t b = 0; b < blocks; b++)
        if (rooms[b]->status != ENDED) tell(rooms[b], b);
}

static void run_together(const void *given, int64_t first, int64_t last) {
    Launch *l = (Launch *)given;
    (void)first, (void)last;
    launch = l;
    const int32_t *grid = l->arguments;
    int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
    Room **rooms = calloc((size_t)blocks, sizeof *rooms);
    l->kernel->begin(l->arguments, 0); /* so that the OS thread has memory of the library's */
    char *kept = malloc((size_t)blocks * own_memory(l->kernel).size + 1);
    bool has = rooms && kept;
    for (int64_t b = 0; has && b < blocks; b++) {
        rooms[b] = calloc(1, sizeof **rooms);
        has = rooms[b];
        if (has) furnish(rooms[b], l->kernel, l->threads);
    }
    if (has) run_phases(l, rooms, kept, blocks);
    else atomic_store(&l->code, MEMORY_CODE);
    for (int64_t b = 0; rooms && b < blocks && rooms[b]; b++) {
        clear(rooms[b]);
        free(rooms[b]);
    }
    free(rooms);
    free(kept);
}

/* ---- blocks of kernels that are split, which go from thread to thread by themselves ---- */

static void run_split(const void *given, int64_t first, int64_t last) {
    Launch *l = (Launch *)given;
    launch = l;
    if (!atomic_load(&l->code)) l->kernel->run(l->arguments, first, last);
}

/* ---- what others call ---- */

typedef int (*Parallel)(void (*)(const void *, int64_t, int64_t), const void *, int64_t);
static Parallel parallel;
static void (*calls)(const void *);

void pycu2c_fibers_by(Parallel run, void (*call)(const void *)) {
    parallel = run;
    calls = call;
}

static int run_by(void (*body)(const void *, int64_t, int64_t), const Kernel *kernel,
                  const void *arguments, int64_t count) {
    const int32_t *block = (const int32_t *)arguments + 3; /* after the grid, as in HEAD */
    Launch l = {.kernel = kernel, .arguments = arguments};
    l.threads = block[0] * block[1] * block[2];
    calls(kernel->run ? (const void *)(uintptr_t)kernel->run : (const void *)(uintptr_t)kernel->thread);
    int ended = parallel(body, &l, count);
    fflush(stdout);
    return ended ? ended : atomic_load(&l.code);
}

/* Runs all blocks of a launch: 0; what the pool says of a run that it has ended; or a code from here. */
int pycu2c_run_fibers(const Kernel *kernel, const void *arguments, int64_t blocks) {
    return run_by(run_blocks, kernel, arguments, blocks);
}

/* The same of a kernel that is split. */
int pycu2c_run_split(const Kernel *kernel, const void *arguments, int64_t blocks) {
    return run_by(run_split, kernel, arguments, blocks);
}

/* The same of a launch whose blocks wait for each other. */
int pycu2c_run_fibers_together(const Kernel *kernel, const void *arguments, int64_t blocks) {
    (void)blocks;
    return run_by(run_together, kernel, arguments, 1);
}

/* What launches that were stuck have told since the last call. */
int64_t pycu2c_fibers_report(Told *to) {
    pthread_mutex_lock(&report_mutex);
    int64_t count = report.count;
    memcpy(to, report.blocks, (size_t)count * sizeof *to);
    report.count = 0;
    pthread_mutex_unlock(&report_mutex);
    return count;
}
