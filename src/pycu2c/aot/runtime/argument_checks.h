/* Check the arrays, the numbers and the grid of a launch.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */

/* ---- arrays ---- */

static const char *type_name(DLDataType type, char *buffer, size_t size) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const char *const name = type.code < sizeof names / sizeof *names ? names[type.code] : "type";
    const int length = snprintf(buffer, size, type.code == kDLBool ? "%s" : "%s%d", name, type.bits);
    if (type.lanes != 1) snprintf(buffer + length, size - (size_t)length, "x%d", type.lanes);
    return buffer;
}

static bool is_c_contiguous(const DLTensor *a) {
    int64_t expected = 1;
    bool is_contiguous = true;
    for (int i = a->ndim - 1; a->strides && i >= 0; i--) {
        if (a->shape[i] == 0) return true;
        is_contiguous &= a->shape[i] == 1 || a->strides[i] == expected;
        expected *= a->shape[i];
    }
    return is_contiguous;
}

static int64_t stride_of(const DLTensor *a, int axis) {
    int64_t stride = 1;
    if (a->strides) return a->strides[axis];
    for (int i = axis + 1; i < a->ndim; i++) stride *= a->shape[i];
    return stride;
}

/* Return the larger of the number of elements, without axes of length 0, and the number that the
 * strides span; -1 if it is MAX_ELEMENTS or more. */
static int64_t spanned_elements(const DLTensor *a) {
    int64_t elements = 1, spanned = 1;
    for (int i = 0; i < a->ndim; i++) {
        const int64_t length = a->shape[i] ? a->shape[i] : 1;
        if (length >= MAX_ELEMENTS / elements) return -1;
        elements *= length;
    }
    for (int i = 0; a->strides && i < a->ndim; i++) {
        const int64_t stride = a->strides[i] < 0 ? -a->strides[i] : a->strides[i];
        if (a->shape[i] < 2) continue;
        if (stride < 0 || stride >= (MAX_ELEMENTS - spanned) / (a->shape[i] - 1)) return -1;
        spanned += (a->shape[i] - 1) * stride;
    }
    return elements > spanned ? elements : spanned;
}

static uintptr_t address_of(const DLTensor *a) {
    return (uintptr_t)a->data + (uintptr_t)a->byte_offset;
}

static pycu2c_status check_array(const struct argument *expected, const DLTensor *a) {
    const char *const name = expected->name;
    if (!a) return fail(PYCU2C_INVALID_ARGUMENT, "%s is NULL", name);
    if (a->ndim < 0 || a->ndim > MAX_AXES || (a->ndim > 0 && !a->shape))
        return fail(PYCU2C_INVALID_ARGUMENT, "%s has no valid shape", name);
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] < 0)
            return fail(PYCU2C_INVALID_ARGUMENT, "%s has the length %lld along axis %d", name,
                        (long long)a->shape[i], i);
    if (spanned_elements(a) < 0)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s has more than 2**48 elements", name);
    return PYCU2C_SUCCESS;
}

/* Check that the last axis of an array has whole elements, and that the other strides are multiples of
 * their lanes. */
static pycu2c_status check_lanes(const struct argument *expected, const DLTensor *a) {
    const int lanes = lanes_of_axis(expected, a);
    if (lanes == 1) return PYCU2C_SUCCESS;
    if (a->ndim == 0 || a->shape[a->ndim - 1] % lanes)
        return fail(PYCU2C_INVALID_ARGUMENT, "the last axis of %s is not a multiple of %d",
                    expected->name, lanes);
    bool is_whole = stride_of(a, a->ndim - 1) == 1;
    for (int i = 0; i < a->ndim - 1; i++) is_whole &= a->shape[i] < 2 || stride_of(a, i) % lanes == 0;
    if (!is_whole)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s has strides that are not multiples of %d: pass a copy",
                    expected->name, lanes);
    return PYCU2C_SUCCESS;
}

/* Check an array of the right type and number of axes. */
static pycu2c_status check_layout(const struct argument *expected, const DLTensor *a) {
    const pycu2c_status status = check_lanes(expected, a);
    bool is_empty = false;
    if (status) return status;
    for (int i = 0; i < a->ndim; i++) is_empty |= a->shape[i] == 0;
    if (!a->data && !is_empty)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s is not empty, but its address is NULL", expected->name);
    if (address_of(a) % expected->alignment)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s does not begin at a multiple of %d bytes",
                    expected->name, expected->alignment);
    if (expected->is_contiguous && !is_c_contiguous(a))
        return fail(PYCU2C_INVALID_ARGUMENT, "%s is not C-contiguous: pass a copy", expected->name);
    return PYCU2C_SUCCESS;
}

/* Return the device of the arrays. Memory of the host that GPUs access counts as the host's. */
static pycu2c_status find_device(const struct launch *l, DLDevice *device) {
    const char *first = NULL;
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &l->kernel->signatures->arguments[i];
        if (!is_array(expected)) continue;
        DLDevice own = ((const DLTensor *)l->arguments[i])->device;
        if (own.device_type == kDLCUDAManaged) own.device_type = kDLCUDA;
        if (own.device_type == kDLCUDAHost) own.device_type = kDLCPU;
        if (own.device_type == kDLCPU) own.device_id = 0;
        if (own.device_type != kDLCPU && own.device_type != kDLCUDA)
            return fail(PYCU2C_UNSUPPORTED_DEVICE, "%s is neither on the CPU nor on an NVIDIA GPU",
                        expected->name);
        if (first && (own.device_type != device->device_type || own.device_id != device->device_id))
            return fail(PYCU2C_INVALID_ARGUMENT, "%s and %s are on different devices", first,
                        expected->name);
        *device = own;
        first = expected->name;
    }
    return PYCU2C_SUCCESS;
}

/* ---- numbers, the grid, and overlap ---- */

/* Return a number as an integer, 0 if it is none. */
static int64_t integer_of(const struct argument *argument, const void *value) {
    if (argument->passed == AS_INT64) return *(const int64_t *)value;
    const double number = *(const double *)value; /* or the real part */
    return number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : 0;
}

static bool is_float(DLDataType type) { return type.code == kDLFloat || type.code == kDLBfloat; }

static bool fits(DLDataType type, int64_t number) {
    if (type.code == kDLBool || type.bits == 64) return true;
    if (type.code == kDLUInt) return number >= 0 && number >> type.bits == 0;
    return -((int64_t)1 << (type.bits - 1)) <= number && number < (int64_t)1 << (type.bits - 1);
}

static pycu2c_status check_numbers(const struct signature *signature, const struct launch *l) {
    char name[32];
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (is_array(expected) || expected->type.code == kDLComplex) continue;
        if (expected->passed == AS_COMPLEX && ((const pycu2c_complex *)l->arguments[i])->imag != 0)
            return fail(PYCU2C_INVALID_ARGUMENT, "%s has an imaginary part", expected->name);
        if (is_float(expected->type)) continue;
        const int64_t number = integer_of(expected, l->arguments[i]);
        if (expected->passed != AS_INT64 && (double)number != *(const double *)l->arguments[i])
            return fail(PYCU2C_INVALID_ARGUMENT, "%s = %g is not an integer", expected->name,
                        *(const double *)l->arguments[i]);
        if (!fits(expected->type, number))
            return fail(PYCU2C_INVALID_ARGUMENT, "%s = %lld does not fit %s", expected->name,
                        (long long)number, type_name(expected->type, name, sizeof name));
    }
    return PYCU2C_SUCCESS;
}

static pycu2c_status check_configuration(const struct launch *l) {
    const uint32_t grid[] = {l->grid.x, l->grid.y, l->grid.z};
    const uint32_t block[] = {l->block.x, l->block.y, l->block.z};
    static const uint32_t max_grid[] = {0x7fffffff, 65535, 65535}, max_block[] = {1024, 1024, 64};
    uint64_t threads = 1;
    for (int axis = 0; axis < 3; axis++) {
        const char name = "xyz"[axis];
        if (grid[axis] < 1 || grid[axis] > max_grid[axis])
            return fail(PYCU2C_INVALID_ARGUMENT, "a grid has 1 to %u blocks along %c, not %u",
                        max_grid[axis], name, grid[axis]);
        if (block[axis] < 1 || block[axis] > max_block[axis])
            return fail(PYCU2C_INVALID_ARGUMENT, "a block has 1 to %u threads along %c, not %u",
                        max_block[axis], name, block[axis]);
        if (grid[axis] % l->kernel->cluster[axis])
            return fail(PYCU2C_INVALID_ARGUMENT, "a grid has a multiple of %u blocks along %c, not %u",
                        l->kernel->cluster[axis], name, grid[axis]);
        threads *= block[axis];
    }
    if (threads > l->kernel->max_threads)
        return fail(PYCU2C_INVALID_ARGUMENT, "a block of %s has at most %u threads, not %llu",
                    l->kernel->name, l->kernel->max_threads, (unsigned long long)threads);
    if (l->shared_bytes > MAX_SHARED_BYTES)
        return fail(PYCU2C_INVALID_ARGUMENT, "a block has at most %zu bytes of shared memory",
                    MAX_SHARED_BYTES);
    return PYCU2C_SUCCESS;
}

/* Return the addresses that an array spans, in bytes. */
static void region_of(const DLTensor *a, uintptr_t *first, uintptr_t *end) {
    const int64_t size = (a->dtype.bits + 7) / 8 * a->dtype.lanes;
    *first = *end = address_of(a);
    for (int i = 0; i < a->ndim; i++) {
        const int64_t extent = (a->shape[i] - 1) * stride_of(a, i) * size;
        if (a->shape[i] == 0) {
            *end = *first = address_of(a);
            return;
        }
        *(extent < 0 ? first : end) += (uintptr_t)extent;
    }
    *end += (uintptr_t)size;
}

static bool are_same(const DLTensor *a, const DLTensor *b) {
    if (address_of(a) != address_of(b) || a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i] || stride_of(a, i) != stride_of(b, i)) return false;
    return true;
}

static pycu2c_status check_overlap(const struct signature *signature, const struct launch *l) {
    for (int i = 0; i < l->kernel->rule_count; i++) {
        const struct overlap_rule *const rule = &l->kernel->rules[i];
        const DLTensor *const a = l->arguments[rule->written], *const b = l->arguments[rule->read];
        uintptr_t first, end, other, other_end;
        region_of(a, &first, &end);
        region_of(b, &other, &other_end);
        if (end <= other || other_end <= first || (rule->may_be_same && are_same(a, b))) continue;
        return fail(PYCU2C_INVALID_ARGUMENT, "%s and %s overlap: pass a copy",
                    signature->arguments[rule->written].name, signature->arguments[rule->read].name);
    }
    return PYCU2C_SUCCESS;
}
