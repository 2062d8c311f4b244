/* Launch elementwise and reduction kernels: compute the grid from the shapes of the arrays.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <stdlib.h>

enum { THREADS = 256 }; /* of a block on a GPU */

/* Return the product of the lengths from an axis on. */
static int64_t elements_from(const DLTensor *a, int axis) {
    int64_t count = 1;
    for (; axis < a->ndim; axis++) count *= a->shape[axis];
    return count;
}

/* Return whether the shape of `a` begins with that of `b`. */
static bool begins_with(const DLTensor *a, const DLTensor *b) {
    if (a->ndim < b->ndim) return false;
    for (int i = 0; i < b->ndim; i++)
        if (a->shape[i] != b->shape[i]) return false;
    return true;
}

/* Check that the arrays that may have any number of axes have the same shape; return the first. */
static pycu2c_status check_shapes(const struct launch *l, int begin, int end, const DLTensor **first) {
    const char *name = "";
    *first = NULL;
    for (int i = begin; i < end; i++) {
        const struct argument *const expected = &l->kernel->signatures->arguments[i];
        const DLTensor *const a = l->arguments[i];
        if (expected->axes != ANY_AXES) continue;
        if (*first && !(a->ndim == (*first)->ndim && begins_with(a, *first)))
            return fail(PYCU2C_INVALID_ARGUMENT, "%s and %s have different shapes", name,
                        expected->name);
        if (*first) continue;
        *first = a;
        name = expected->name;
    }
    return PYCU2C_SUCCESS;
}

static pycu2c_status set_grid(struct launch *l, int64_t blocks, uint32_t threads) {
    if (blocks > 0x7fffffff)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s: the arrays have too many elements", l->kernel->name);
    l->grid = (pycu2c_dim3){(uint32_t)blocks, 1, 1};
    l->block = (pycu2c_dim3){threads, 1, 1};
    return PYCU2C_SUCCESS;
}

/* ---- elementwise kernels ---- */

/* cpu_block_elements, gpu_block_elements: of a block. size: an argument of the kernel. */
struct elementwise {
    int64_t cpu_block_elements, gpu_block_elements, size;
};

#ifdef PYCU2C_ELEMENTWISE
static pycu2c_status launch_elementwise(struct launch *l, struct elementwise *e) {
    const DLTensor *array;
    DLDevice device = {kDLCPU, 0};
    pycu2c_status status = check_arrays(l, &device);
    if (!status) status = check_shapes(l, 0, l->kernel->argument_count, &array);
    if (status) return status;
    const bool on_gpu = device.device_type == kDLCUDA;
    const int64_t length = on_gpu ? e->gpu_block_elements : e->cpu_block_elements;
    e->size = elements_from(array, 0);
    status = set_grid(l, (e->size + length - 1) / length, on_gpu ? THREADS : 1);
    return status || e->size == 0 ? status : launch(l);
}
#endif

/* ---- reductions ---- */

/* A reduction of rows. Long rows are split into parts, and the last block combines their values. The
 * arguments before `inputs` are inputs; those from there to `outputs_end` are outputs. part_size: the
 * size of the value of a part, in bytes. The other fields are arguments of the kernel; `values` and
 * `counters` are addresses. */
struct reduction {
    int inputs, outputs_end;
    bool has_identity;
    int64_t part_size;
    int64_t rows, length, parts, part_length, rows_of_group, values, counters;
};

#ifdef PYCU2C_REDUCTION
enum { MEDIUM_ROW = 64, LONG_ROW = 512, CPU_ELEMENTS = 1 << 14, MIN_CPU_BLOCKS = 64, GPU_BLOCKS = 1024 };

/* Compute the size of rows: the axes that outputs do not have; all axes if an output has one element. */
static pycu2c_status find_rows(const struct launch *l, struct reduction *r) {
    const DLTensor *in, *out;
    pycu2c_status status = check_shapes(l, 0, r->inputs, &in);
    if (!status) status = check_shapes(l, r->inputs, r->outputs_end, &out);
    if (status) return status;
    const bool is_one = elements_from(out, 0) == 1;
    if (!is_one && !begins_with(in, out))
        return fail(PYCU2C_INVALID_ARGUMENT, "the shape of %s is not the first part of that of %s",
                    l->kernel->signatures->arguments[r->inputs].name,
                    l->kernel->signatures->arguments[0].name);
    r->rows = elements_from(out, 0);
    r->length = elements_from(in, is_one ? 0 : out->ndim);
    if (r->rows && !r->length && !r->has_identity)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s of no elements has no value", l->kernel->name);
    return PYCU2C_SUCCESS;
}

static int64_t ceil_div(int64_t number, int64_t divisor) { return (number + divisor - 1) / divisor; }

/* Split long rows into parts or group short rows; return the number of blocks. */
static int64_t split_on_cpu(struct reduction *r) {
    if (r->rows < MIN_CPU_BLOCKS && r->length > 2 * CPU_ELEMENTS) {
        r->parts = ceil_div(r->length, CPU_ELEMENTS);
        r->part_length = CPU_ELEMENTS;
        return r->rows * r->parts;
    }
    if (r->part_length < CPU_ELEMENTS) r->rows_of_group = CPU_ELEMENTS / r->part_length;
    return ceil_div(r->rows, r->rows_of_group);
}

static int64_t split_on_gpu(struct reduction *r, int variant) {
    static const int threads_of_row[] = {8, 32, THREADS};
    const int64_t most = r->length / (4 * THREADS), fitting = GPU_BLOCKS / r->rows;
    if (variant < 2) return ceil_div(r->rows * threads_of_row[variant], THREADS);
    r->parts = most < fitting ? most : fitting;
    if (r->parts < 1) r->parts = 1;
    return r->rows * r->parts;
}

static size_t size_of_counters(const struct reduction *r) { return (size_t)ceil_div(4 * r->rows, 16) * 16; }

static void set_workspace(struct reduction *r, uintptr_t memory) {
    r->counters = (int64_t)memory;
    r->values = (int64_t)(memory + size_of_counters(r));
}

/* Launch with memory for the values of the parts, and counters that are 0. */
static pycu2c_status launch_parts(const struct launch *l, struct reduction *r, DLDevice device) {
    const size_t size = size_of_counters(r) + (size_t)(r->rows * r->parts * r->part_size);
    pycu2c_status status;
#ifdef PYCU2C_IMAGES
    if (device.device_type == kDLCUDA) {
        uint64_t memory = 0;
        bool pushed;
        status = enter_device(device.device_id, &pushed);
        if (!status) status = allocate_zeros(&memory, size, l->stream);
        set_workspace(r, (uintptr_t)memory);
        if (!status) status = launch(l);
        if (memory) cuda.free(memory, l->stream);
        leave_device(pushed);
        return status;
    }
#endif
    (void)device;
    void *const memory = calloc(1, size);
    if (!memory) return fail(PYCU2C_OUT_OF_MEMORY, "%s: too little memory", l->kernel->name);
    set_workspace(r, (uintptr_t)memory);
    status = launch(l);
    free(memory);
    return status;
}

static pycu2c_status launch_reduction(struct launch *l, struct reduction *r) {
    DLDevice device = {kDLCPU, 0};
    pycu2c_status status = check_arrays(l, &device);
    if (!status) status = find_rows(l, r);
    if (status || r->rows == 0) return status;
    const bool on_gpu = device.device_type == kDLCUDA;
    const int variant = r->length >= LONG_ROW ? 2 : r->length >= MEDIUM_ROW ? 1 : 0;
    l->first_variant = variant;
    r->parts = r->rows_of_group = 1;
    r->part_length = r->length ? r->length : 1;
    const int64_t blocks = on_gpu ? split_on_gpu(r, variant) : split_on_cpu(r);
    status = set_grid(l, blocks, on_gpu ? THREADS : 1);
    if (status) return status;
    return r->parts > 1 ? launch_parts(l, r, device) : launch(l);
}
#endif
