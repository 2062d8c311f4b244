/* A plan for a launch: whether its arguments fit, their bytes, and the start of the kernel. */

/* Whether an argument is as its guards say, which it steps over; its leaves are filled in. */
static bool fits(const Guard **next, Object *given, Launch *launch, Leaf **leaf) {
    const Guard *g = (*next)++;
    if (g->kind == SAME) return given == g->object;
    if (given->type != g->type) return false;
    switch (g->kind) {
    case NUMPY: return is_numpy(g, (const Array *)given, (*leaf)++);
    case OWN: return is_own(g, given, launch, (*leaf)++);
    case INTERFACE: return has_interface(g, given, launch, (*leaf)++);
    case ATTRIBUTES: return has_attributes(g, given, launch, (*leaf)++);
    case RAW: (*leaf)++->bytes = ((const Scalar *)given)->bytes; return true;
    case FLOAT_OF_DOUBLE: return is_single(g, given, (*leaf)++);
    case DOUBLE_OF_FLOAT: return is_widened(given, (*leaf)++);
    case TUPLE:
        if (count_of(given) != g->count) return false;
        for (int64_t i = 0; i < g->count; i++) {
            if (!fits(next, items_of(given)[i], launch, leaf)) return false;
        }
        return true;
    default: return is_whole(g, given, (*leaf)++);
    }
}

static bool all_fit(const Plan *plan, Object *arguments, Launch *launch, Leaf *leaves) {
    const Guard *next = plan->guards;
    Object *const *given = items_of(arguments);
    if (count_of(arguments) != plan->head.arguments) return false;
    for (int64_t i = 0; i < plan->head.arguments; i++) {
        if (!fits(&next, given[i], launch, &leaves)) return false;
    }
    return true;
}

/* The grid that follows from the data, where a launch leaves it open. */
static bool size_grid(const Head *head, const Leaf *leaves, Launch *launch) {
    int32_t *grid = launch->head.grid;
    for (int64_t axis = 0; axis < 3; axis++) grid[axis] = (int32_t)head->cluster[axis];
    for (int64_t axis = 0; axis < head->axes; axis++) {
        const Leaf *leaf = &leaves[head->lengths[axis][0]];
        int64_t along = head->lengths[axis][1], threads = launch->head.block[axis];
        int64_t length = along < 0 ? leaf->whole : leaf->shape[along];
        int64_t blocks = length <= threads ? 1 : (length - 1) / threads + 1;
        blocks = (blocks - 1) / head->cluster[axis] * head->cluster[axis] + head->cluster[axis];
        if (blocks > (axis ? MOST_ALONG_Y_AND_Z : BLOCKS_LIMIT)) return false;
        grid[axis] = (int32_t)blocks;
    }
    return head->axes > 0;
}

static bool is_for(const Head *head, const Launch *launch) {
    for (int axis = 0; axis < 3; axis++) {
        int64_t blocks = launch->head.grid[axis], threads = launch->head.block[axis];
        if (threads < 1 || (head->block[axis] && head->block[axis] != threads)) return false;
        if (blocks > BLOCKS_LIMIT || blocks * threads >= INDEX_LIMIT) return false;
    }
    const int32_t *grid = launch->head.grid;
    int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
    return launch->head.shared == head->shared && blocks >= head->least && blocks < head->below;
}

/* The bytes of an array: from where, and how many there are to its last. */
static uintptr_t reach_of(const Field *f, const Leaf *a, int64_t *size) {
    int64_t low = 0, high = f->divisor;
    for (int axis = 0; axis < f->axis; axis++) {
        int64_t reach = (a->shape[axis] - 1) * a->strides[axis];
        *(reach < 0 ? &low : &high) += reach;
    }
    *size = high - low;
    return (uintptr_t)a->data + (uintptr_t)low;
}

/* Whether two arrays have no element in common, or each at the same place. */
static bool are_apart(const Field *f, const Leaf *a, const Field *g, const Leaf *b) {
    int64_t size, length;
    uintptr_t first = reach_of(f, a, &size), other = reach_of(g, b, &length);
    if (first >= other + (uintptr_t)length || other >= first + (uintptr_t)size) return true;
    if (a->data != b->data || f->axis != g->axis || f->divisor != g->divisor) return false;
    size_t bytes = (size_t)f->axis * sizeof *a->shape;
    return !memcmp(a->shape, b->shape, bytes) && !memcmp(a->strides, b->strides, bytes);
}

/* Whether no array that is written disturbs one that is read. */
static bool is_undisturbed(const Plan *plan, const Leaf *leaves) {
    const Head *head = &plan->head;
    for (const Field *f = plan->fields; f < plan->fields + head->fields; f++) {
        if (f->part != DATA || !(head->written >> f->leaf & 1)) continue;
        for (const Field *g = plan->fields; g < plan->fields + head->fields; g++) {
            if (g->part != DATA || !(head->read >> g->leaf & 1)) continue;
            if (!are_apart(f, &leaves[f->leaf], g, &leaves[g->leaf])) return false;
        }
    }
    return true;
}

/* ---- packing ---- */

static int64_t steps_of(const Leaf *a, const Field *f) { /* in elements, rounded down */
    int64_t step = a->strides[f->axis], steps = step / f->divisor;
    return step % f->divisor < 0 ? steps - 1 : steps;
}

static void copy(unsigned char *to, const void *from, int64_t size) {
    switch (size) { /* of a size that the compiler knows no function is called */
    case 4: memcpy(to, from, 4); return;
    case 8: memcpy(to, from, 8); return;
    default: memcpy(to, from, (size_t)size);
    }
}

static void put(unsigned char *to, const Field *f, const Leaf *leaf) {
    int64_t wide;
    switch (f->part) {
    case DATA: memcpy(to, &leaf->data, sizeof(char *)); return;
    case VALUE: copy(to, leaf->bytes, f->size); return;
    case SHAPE: wide = leaf->shape[f->axis]; break;
    default: wide = steps_of(leaf, f);
    }
    if (f->size == 4) {
        int32_t narrow = (int32_t)wide;
        memcpy(to, &narrow, sizeof narrow);
    } else {
        memcpy(to, &wide, sizeof wide);
    }
}

static void pack(const Plan *plan, const Leaf *leaves, unsigned char *packed) {
    if (plan->head.gaps) memset(packed, 0, (size_t)plan->head.bytes);
    for (int64_t i = 0; i < plan->head.fields; i++) {
        const Field *f = &plan->fields[i];
        put(packed + f->offset, f, &leaves[f->leaf]);
    }
}

/* ---- starting ---- */

static int start_here(const Head *head, const Launch *launch, unsigned char *packed) {
    const int32_t *grid = launch->head.grid;
    memcpy(packed, &launch->head, sizeof launch->head);
    int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
    void *thread = PyEval_SaveThread();
    int code = head->start(head->body, packed, blocks);
    PyEval_RestoreThread(thread);
    return code;
}

/* The driver waits where a queue is full, for as long as a kernel may run: without the GIL. */
static int submit(const Head *head, const Launch *launch, unsigned char *packed) {
    const int32_t *grid = launch->head.grid, *block = launch->head.block;
    size_t size = (size_t)head->bytes;
    /* CU_LAUNCH_PARAM_BUFFER_POINTER, ..._BUFFER_SIZE, ..._END */
    void *extra[] = {(void *)1, packed, (void *)2, &size, (void *)0};
    return head->submit(head->body, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
                        (unsigned)block[0], (unsigned)block[1], (unsigned)block[2],
                        (unsigned)launch->head.shared, (void *)(uintptr_t)launch->stream, 0, extra);
}

static bool start_on_device(const Head *head, const Launch *launch, unsigned char *packed) {
    void *thread = PyEval_SaveThread();
    int code = submit(head, launch, packed);
    PyEval_RestoreThread(thread);
    return code == 0;
}

/* Whether it has been started; then it is done, with a code. */
static bool start_with_copies(
    const Head *head, const Copies *copies, const Launch *launch, unsigned char *packed, int *code
) {
    void *stream = (void *)(uintptr_t)launch->stream;
    head->room->busy = 1;
    void *thread = PyEval_SaveThread();
    bool started = !bring(head->room, copies, stream) && !submit(head, launch, packed);
    if (started) *code = bring_back(head->room, copies, stream);
    PyEval_RestoreThread(thread);
    head->room->busy = 0;
    return started;
}

static bool is_current(const Head *head) {
    void *context = 0;
    return head->current(&context) == 0 && context == head->context;
}

/* Whether a launch has run that has room for foreign arrays; see below. */
static bool ran_in(const Plan *plan, Launch *launch, Object *arguments, int *code) {
    Leaf leaves[MOST_LEAVES];
    _Alignas(64) unsigned char packed[MOST_BYTES];
    const Head *head = &plan->head;
    if (!all_fit(plan, arguments, launch, leaves)) return false;
    if (head->written && !is_undisturbed(plan, leaves)) return false;
    if (launch->head.grid[0] == 0 && !size_grid(head, leaves, launch)) return false;
    if (!is_for(head, launch) || (head->current && !is_current(head))) return false;
    Copies copies;
    if (head->room && (head->room->busy || !place_copies(plan, leaves, &copies))) return false;
    pack(plan, leaves, packed);
    if (head->room) return start_with_copies(head, &copies, launch, packed, code);
    if (head->current) return start_on_device(head, launch, packed);
    *code = start_here(head, launch, packed);
    return true;
}

/* Whether a launch has run by a plan; on the CPU with a code. What a device refuses has not run,
 * and Python finds out why by trying the same. */
static bool ran(const Plan *plan, Launch *launch, Object *arguments, int *code) {
    Kept kept[MOST_LEAVES];
    launch->kept = kept;
    bool done = ran_in(plan, launch, arguments, code);
    launch->kept = 0;
    return done;
}
