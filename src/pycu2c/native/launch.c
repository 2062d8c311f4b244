/* A launch by a dispatch entry: guards, grid, packing, and the start of the kernel. */
#include "dispatch.h"

#include <string.h>

/* Infers the grid from the arguments, in whole clusters. */
static bool infer_grid(const DispatchEntry *entry, const Leaf *leaves, LaunchHeader *header) {
    for (int32_t axis = 0; axis < 3; axis++) header->grid[axis] = (int32_t)entry->cluster[axis];
    for (int32_t axis = 0; axis < entry->grid_axes; axis++) {
        const ExtentSource *source = &entry->grid_sources[axis];
        const Leaf *leaf = &leaves[source->leaf];
        int64_t threads = header->block[axis], cluster = entry->cluster[axis];
        int64_t length = source->axis < 0 ? leaf->integer : leaf->shape[source->axis];
        int64_t blocks = length <= threads ? 1 : (length - 1) / threads + 1;
        blocks = (blocks - 1) / cluster * cluster + cluster;
        if (blocks > (axis ? MAX_GRID_YZ : BLOCKS32_LIMIT)) return false;
        header->grid[axis] = (int32_t)blocks;
    }
    return entry->grid_axes > 0;
}

static int64_t block_count(const LaunchHeader *header) {
    return (int64_t)header->grid[0] * header->grid[1] * header->grid[2];
}

/* Whether the kernel is compiled for the block, shared memory and number of blocks. */
static bool header_matches(const DispatchEntry *entry, const LaunchHeader *header) {
    for (int axis = 0; axis < 3; axis++) {
        int64_t blocks = header->grid[axis], threads = header->block[axis];
        if (threads < 1 || (entry->block[axis] && entry->block[axis] != threads)) return false;
        if (entry->grid[axis] && entry->grid[axis] != blocks) return false;
        if (blocks > BLOCKS32_LIMIT || blocks * threads >= INDEX32_LIMIT) return false;
    }
    int64_t blocks = block_count(header);
    return header->shared_bytes == entry->shared_bytes && blocks >= entry->min_blocks &&
           blocks < entry->max_blocks;
}

/* ---- arrays that overlap ---- */

/* The address of the first byte of an array, and the bytes up to its last. */
static uintptr_t memory_span(const Field *f, const Leaf *a, int64_t *size) {
    int64_t low = 0, high = f->itemsize;
    for (int32_t axis = 0; axis < f->axis; axis++) {
        int64_t reach = (a->shape[axis] - 1) * a->strides[axis];
        *(reach < 0 ? &low : &high) += reach;
    }
    *size = high - low;
    return (uintptr_t)a->data + (uintptr_t)low;
}

static bool are_disjoint(const Field *f, const Leaf *a, const Field *g, const Leaf *b) {
    int64_t size, other_size;
    uintptr_t begin = memory_span(f, a, &size), other = memory_span(g, b, &other_size);
    return begin >= other + (uintptr_t)other_size || other >= begin + (uintptr_t)size;
}

/* Whether two arrays have the same element at each index. */
static bool are_same(const Field *f, const Leaf *a, const Field *g, const Leaf *b) {
    if (a->data != b->data || f->axis != g->axis || f->itemsize != g->itemsize) return false;
    size_t bytes = (size_t)f->axis * sizeof *a->shape;
    return !memcmp(a->shape, b->shape, bytes) && !memcmp(a->strides, b->strides, bytes);
}

static bool writes_overlap_reads(const DispatchEntry *entry, const Leaf *leaves) {
    const Field *end = entry->fields + entry->field_count;
    for (const Field *f = entry->fields; f < end; f++) {
        if (f->part != FIELD_ADDRESS || !(entry->written >> f->leaf & 1)) continue;
        for (const Field *g = entry->fields; g < end; g++) {
            if (g->part != FIELD_ADDRESS || !(entry->read >> g->leaf & 1)) continue;
            if (f == g) continue;
            const Leaf *a = &leaves[f->leaf], *b = &leaves[g->leaf];
            if (are_disjoint(f, a, g, b)) continue;
            if (!entry->may_be_same || !are_same(f, a, g, b)) return true;
        }
    }
    return false;
}

/* ---- packing ---- */

static int64_t stride_in_elements(const Leaf *a, const Field *f) { /* rounded down */
    int64_t step = a->strides[f->axis], elements = step / f->itemsize;
    return step % f->itemsize < 0 ? elements - 1 : elements;
}

static void copy_value(unsigned char *to, const void *from, int64_t size) {
    switch (size) { /* constant sizes compile to plain moves */
    case 4: memcpy(to, from, 4); return;
    case 8: memcpy(to, from, 8); return;
    default: memcpy(to, from, (size_t)size);
    }
}

static void pack_field(unsigned char *to, const Field *f, const Leaf *leaf) {
    int64_t wide;
    switch (f->part) {
    case FIELD_ADDRESS: memcpy(to, &leaf->data, sizeof leaf->data); return;
    case FIELD_VALUE: copy_value(to, leaf->bytes, f->size); return;
    case FIELD_EXTENT: wide = leaf->shape[f->axis]; break;
    default: wide = stride_in_elements(leaf, f);
    }
    if (f->size == 4) {
        int32_t narrow = (int32_t)wide;
        memcpy(to, &narrow, sizeof narrow);
    } else {
        memcpy(to, &wide, sizeof wide);
    }
}

static void pack(const DispatchEntry *entry, const Leaf *leaves, unsigned char *packed) {
    if (entry->initial != Py_None) {
        memcpy(packed, PyBytes_AsString(entry->initial), (size_t)entry->size);
    }
    for (const Field *f = entry->fields; f < entry->fields + entry->field_count; f++) {
        pack_field(packed + f->offset, f, &leaves[f->leaf]);
    }
}

/* ---- starting ---- */

static int start_on_cpu(const DispatchEntry *entry, const Launch *launch, unsigned char *packed) {
    memcpy(packed, &launch->header, sizeof launch->header);
    int code;
    Py_BEGIN_ALLOW_THREADS
    if (entry->cleared_size) memset((void *)entry->cleared, 0, (size_t)entry->cleared_size);
    code = entry->cpu_start(entry->kernel, packed, block_count(&launch->header));
    Py_END_ALLOW_THREADS
    return code;
}

static int cu_launch_with_flags(
    const DispatchEntry *entry, const Launch *launch, void *stream, void **extra
) {
    LaunchAttribute attributes[64];
    LaunchConfig config = {.stream = stream, .attributes = attributes};
    for (int axis = 0; axis < 3; axis++) {
        config.grid[axis] = (unsigned)launch->header.grid[axis];
        config.block[axis] = (unsigned)launch->header.block[axis];
    }
    config.shared_bytes = (unsigned)launch->header.shared_bytes;
    for (int id = 0; id < 64; id++) {
        if (!(entry->flags >> id & 1)) continue;
        attributes[config.attribute_count++] = (LaunchAttribute){.id = id, .value.flag = 1};
    }
    return entry->cu_launch_kernel_ex(&config, entry->kernel, NULL, extra);
}

static int cu_launch(const DispatchEntry *entry, const Launch *launch, unsigned char *packed) {
    const int32_t *grid = launch->header.grid, *block = launch->header.block;
    size_t size = (size_t)entry->size, words = (size_t)entry->cleared_size / 4;
    void *stream = (void *)launch->configuration->stream;
    if (words) {
        int code = entry->cu_memset(entry->cleared, 0, words, stream);
        if (code) return code;
    }
    /* CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END */
    void *extra[] = {(void *)1, packed, (void *)2, &size, NULL};
    if (entry->flags) return cu_launch_with_flags(entry, launch, stream, extra);
    return entry->cu_launch_kernel(
        entry->kernel, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], (unsigned)block[0],
        (unsigned)block[1], (unsigned)block[2], (unsigned)launch->header.shared_bytes,
        stream, NULL, extra
    );
}

static int copy_found(const DispatchEntry *entry, void *stream) {
    if (!entry->found) return 0;
    return entry->cu_copy_to_host(entry->found, entry->found_on_device, sizeof(int64_t), stream);
}

/* Starts a kernel without the GIL: the driver blocks while its queue is full. Waits for its end if
 * it may have findings. */
static bool start_on_device(
    const DispatchEntry *entry, const Launch *launch, unsigned char *packed, int *code
) {
    void *stream = (void *)launch->configuration->stream;
    bool started;
    Py_BEGIN_ALLOW_THREADS
    started = !cu_launch(entry, launch, packed);
    if (started) *code = copy_found(entry, stream);
    if (started && !*code && entry->found) *code = entry->cu_synchronize(stream);
    Py_END_ALLOW_THREADS
    return started;
}

/* Runs a launch with copies of host arrays; false if it did not start. */
static bool start_with_copies(
    const DispatchEntry *entry, const StagedArrays *staged, const Launch *launch,
    unsigned char *packed, int *code
) {
    StagingBuffer *buffer = entry->staging;
    void *stream = (void *)launch->configuration->stream;
    bool started;
    buffer->busy = true;
    Py_BEGIN_ALLOW_THREADS
    started = !copy_staged_in(buffer, staged, stream) && !cu_launch(entry, launch, packed);
    if (started) *code = copy_found(entry, stream);
    if (started && !*code) *code = copy_staged_back(buffer, staged, stream);
    Py_END_ALLOW_THREADS
    buffer->busy = false;
    return started;
}

static bool context_is_current(const DispatchEntry *entry) {
    void *context = NULL;
    return entry->get_context(&context) == 0 && context == entry->context;
}

static bool start(
    const DispatchEntry *entry, const StagedArrays *staged, const Launch *launch,
    unsigned char *packed, int *code
) {
    if (entry->staging) return start_with_copies(entry, staged, launch, packed, code);
    if (entry->get_context) return start_on_device(entry, launch, packed, code);
    *code = start_on_cpu(entry, launch, packed);
    return true;
}

/* Runs a launch that matches the entry; false if it did not run. If it waits for the end of the
 * kernel, it stores the exit code. If the driver rejects a launch, the slow path repeats it and
 * raises the error. The caller resets `busy`. */
bool launch_entry(DispatchEntry *entry, Launch *launch, PyObject *arguments, int *code) {
    Leaf leaves[MAX_LEAVES];
    ForeignExtents foreign[MAX_LEAVES];
    _Alignas(64) unsigned char packed[MAX_ARGUMENT_BYTES];
    StagedArrays staged;
    if (entry->busy) return false;
    launch->next_foreign = foreign;
    if (!arguments_match(entry, arguments, launch, leaves)) return false;
    if (entry->written && writes_overlap_reads(entry, leaves)) return false;
    if (launch->header.grid[0] == 0 && !infer_grid(entry, leaves, &launch->header)) return false;
    if (!header_matches(entry, &launch->header)) return false;
    if (entry->get_context && !context_is_current(entry)) return false;
    if (entry->staging && (entry->staging->busy || !stage_arrays(entry, leaves, &staged)))
        return false;
    pack(entry, leaves, packed);
    entry->busy = entry->found;
    bool started = start(entry, &staged, launch, packed, code);
    if (!started) entry->busy = false;
    if (started && !*code && entry->found && *entry->found) *code = HAS_FINDINGS;
    return started;
}
