/* Check the arguments of a launch, choose the compiled variant, and run it on a GPU or the CPU.
 *
 * The generated tables describe the kernels. Each signature of a kernel has a variant for all launches,
 * and others for launches with 32-bit indices, or with blocks of one shape.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the message of the last failure of a thread ---- */

static _Thread_local char message[512] = "";

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static pycu2c_status fail(pycu2c_status status, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return status;
}

#ifdef PYCU2C_HAS_CPU
#include "cpu_threads.h"
#endif
#ifdef PYCU2C_COROUTINES
#include "coroutines.h"
#endif
#ifdef PYCU2C_IMAGES
#include "cuda_driver.h"
#endif

/* ---- tables ---- */

enum { MAX_AXES = 16, MAX_ARGUMENTS = 64, MAX_PARAMETERS = 256, MAX_PARAMETER_BYTES = 4096 };
enum { INDEX32_LIMIT = 1 << 30, BLOCKS32_LIMIT = 1 << 22 };
#define MAX_ELEMENTS ((int64_t)1 << 48)
#define MAX_SHARED_BYTES ((size_t)227 * 1024)

enum part { VALUE, DATA, SHAPE, STRIDE };

/* A parameter of a compiled kernel: the part of an argument that it has. */
struct parameter {
    uint8_t part, argument, axis, size;
};

struct parameters {
    const struct parameter *list;
    int count;
};

/* What an argument must be. axes: -1 for a number, which is given as a double if `is_double`, else as
 * an int64_t. limit: the greatest magnitude of an integer with which indices have 32 bits; 0 for any. */
struct argument {
    const char *name;
    DLDataType type;
    int8_t axes;
    bool is_contiguous, is_double;
    int64_t limit;
};

/* block: of the launches that it is for; 0 for any. */
struct variant {
    bool needs_small_indices;
    uint32_t block[3];
#ifdef PYCU2C_HAS_CPU
    kernel_body *body; /* NULL if the threads are coroutines */
#ifdef PYCU2C_COROUTINES
    const struct coroutine_kernel *coroutines;
#endif
    struct parameters of_cpu;
#endif
#ifdef PYCU2C_IMAGES
    const char *entry;
    loaded_kernel *loaded;
    struct parameters of_gpu;
#endif
};

struct signature {
    const struct argument *arguments;
    const struct variant *variants; /* a launch uses the first that is possible */
    int variant_count;
};

/* An array that a kernel writes while it reads another must not overlap it, unless both may be the
 * same array. */
struct overlap_rule {
    uint8_t written, read;
    bool may_be_same;
};

/* max_threads: of a block. */
struct kernel {
    const char *name;
    int argument_count, signature_count, rule_count;
    const struct signature *signatures;
    const struct overlap_rule *rules;
    uint32_t max_threads, cluster[3];
    bool is_cooperative;
};

struct launch {
    const struct kernel *kernel;
    const void *const *arguments; /* a DLTensor, a double or an int64_t each */
    pycu2c_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
};

/* ---- arrays ---- */

static const char *type_name(DLDataType type, char *buffer, size_t size) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const char *const name = type.code < sizeof names / sizeof *names ? names[type.code] : "type";
    snprintf(buffer, size, type.code == kDLBool ? "%s" : "%s%d", name, type.bits);
    return buffer;
}

static bool is_type(DLDataType type, DLDataType expected) {
    return type.code == expected.code && type.bits == expected.bits && type.lanes == 1;
}

static bool is_c_contiguous(const DLTensor *a) {
    int64_t expected = 1;
    for (int i = a->ndim - 1; a->strides && i >= 0; i--) {
        if (a->shape[i] != 1 && a->strides[i] != expected) return a->shape[i] == 0;
        expected *= a->shape[i];
    }
    return true;
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

/* Check an array of the right type and number of axes. */
static pycu2c_status check_layout(const struct argument *expected, const DLTensor *a) {
    const size_t size = (size_t)(expected->type.bits + 7) / 8;
    const size_t alignment = expected->type.code == kDLComplex ? size / 2 : size;
    bool is_empty = false;
    for (int i = 0; i < a->ndim; i++) is_empty |= a->shape[i] == 0;
    if (!a->data && !is_empty)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s has elements, and its address is NULL", expected->name);
    if (address_of(a) % alignment)
        return fail(PYCU2C_INVALID_ARGUMENT, "%s does not begin at a multiple of %zu bytes",
                    expected->name, alignment);
    if (expected->is_contiguous && !is_c_contiguous(a))
        return fail(PYCU2C_INVALID_ARGUMENT, "%s is not C-contiguous: pass a copy", expected->name);
    return PYCU2C_SUCCESS;
}

/* Return the device of the arrays. Memory of the host that GPUs access counts as the host's. */
static pycu2c_status find_device(const struct launch *l, DLDevice *device) {
    const char *first = NULL;
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &l->kernel->signatures->arguments[i];
        if (expected->axes < 0) continue;
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

/* ---- the signature and the variant of a launch ---- */

static bool has_types(const struct signature *signature, const struct launch *l) {
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        const DLTensor *const a = l->arguments[i];
        if (expected->axes >= 0 && (a->ndim != expected->axes || !is_type(a->dtype, expected->type)))
            return false;
    }
    return true;
}

static bool has_layouts(const struct signature *signature, const struct launch *l) {
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (expected->axes >= 0 && expected->is_contiguous && !is_c_contiguous(l->arguments[i]))
            return false;
    }
    return true;
}

/* Return the first signature that the arrays match, or one that they match but for their layout; NULL
 * if there is none. */
static const struct signature *find_signature(const struct launch *l) {
    const struct signature *found = NULL;
    for (int i = 0; i < l->kernel->signature_count; i++) {
        const struct signature *const signature = &l->kernel->signatures[i];
        if (!has_types(signature, l)) continue;
        found = signature;
        if (has_layouts(signature, l)) break;
    }
    return found;
}

static pycu2c_status reject_types(const struct launch *l) {
    char expected_name[32], name[32];
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &l->kernel->signatures->arguments[i];
        const DLTensor *const a = l->arguments[i];
        if (expected->axes < 0) continue;
        if (l->kernel->signature_count == 1 || a->ndim != expected->axes) {
            if (a->ndim == expected->axes && is_type(a->dtype, expected->type)) continue;
            return fail(PYCU2C_INVALID_ARGUMENT, "%s is %s with %d axes%s, and %s takes %s with %d",
                        expected->name, type_name(a->dtype, name, sizeof name), a->ndim,
                        a->dtype.lanes == 1 ? "" : " of vectors", l->kernel->name,
                        type_name(expected->type, expected_name, sizeof expected_name),
                        expected->axes);
        }
    }
    int end = snprintf(message, sizeof message, "%s is not compiled for ", l->kernel->name);
    for (int i = 0; i < l->kernel->argument_count && end < (int)sizeof message; i++) {
        if (l->kernel->signatures->arguments[i].axes < 0) continue;
        const DLTensor *const a = l->arguments[i];
        end += snprintf(message + end, sizeof message - (size_t)end, "%s%s %s", i ? ", " : "",
                        l->kernel->signatures->arguments[i].name,
                        type_name(a->dtype, name, sizeof name));
    }
    return PYCU2C_INVALID_ARGUMENT;
}

/* Return a number as an integer, 0 if it is none. */
static int64_t integer_of(const struct argument *argument, const void *given) {
    if (!argument->is_double) return *(const int64_t *)given;
    const double number = *(const double *)given;
    return number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : 0;
}

static bool fits(DLDataType type, int64_t number) {
    if (type.code == kDLBool || type.bits == 64) return true;
    if (type.code == kDLUInt) return number >= 0 && number >> type.bits == 0;
    return -((int64_t)1 << (type.bits - 1)) <= number && number < (int64_t)1 << (type.bits - 1);
}

static pycu2c_status check_numbers(const struct signature *signature, const struct launch *l) {
    char name[32];
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (expected->axes >= 0 || expected->type.code == kDLFloat) continue;
        const int64_t number = integer_of(expected, l->arguments[i]);
        if (expected->is_double && (double)number != *(const double *)l->arguments[i])
            return fail(PYCU2C_INVALID_ARGUMENT, "%s = %g is not an integer", expected->name,
                        *(const double *)l->arguments[i]);
        if (!fits(expected->type, number))
            return fail(PYCU2C_INVALID_ARGUMENT, "%s = %lld is not an %s", expected->name,
                        (long long)number, type_name(expected->type, name, sizeof name));
    }
    return PYCU2C_SUCCESS;
}

static bool has_small_indices(const struct signature *signature, const struct launch *l) {
    const uint32_t blocks[] = {l->grid.x, l->grid.y, l->grid.z};
    const uint32_t threads[] = {l->block.x, l->block.y, l->block.z};
    for (int axis = 0; axis < 3; axis++)
        if (blocks[axis] > BLOCKS32_LIMIT || (int64_t)blocks[axis] * threads[axis] >= INDEX32_LIMIT)
            return false;
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (expected->axes >= 0) {
            const DLTensor *const a = l->arguments[i];
            if (spanned_elements(a) >= INDEX32_LIMIT) return false;
            for (int axis = 0; axis < a->ndim; axis++)
                if (a->shape[axis] == 0) return false;
        } else if (expected->limit) {
            const int64_t number = integer_of(expected, l->arguments[i]);
            if (number > expected->limit || number < -expected->limit) return false;
        }
    }
    return true;
}

/* ---- checks of a launch ---- */

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
    const int64_t size = (a->dtype.bits + 7) / 8;
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

/* ---- parameters ---- */

static void store_number(char *to, const struct argument *argument, int size, const void *from) {
    if (argument->type.code == kDLFloat) {
        const double number = *(const double *)from;
        const float rounded = (float)number;
        memcpy(to, size == 4 ? (const void *)&rounded : (const void *)&number, (size_t)size);
        return;
    }
    const int64_t number = integer_of(argument, from);
    if (argument->type.code == kDLBool) *to = number != 0;
    else memcpy(to, &number, (size_t)size); /* on a processor with little-endian numbers */
}

/* Store the parameters in natural alignment, and their addresses in `places`, if it is not NULL. */
static void store_parameters(char *to, void **places, const struct parameters *parameters,
                             const struct signature *signature, const struct launch *l) {
    size_t end = 0;
    for (int i = 0; i < parameters->count; i++) {
        const struct parameter *const p = &parameters->list[i];
        const void *const argument = l->arguments[p->argument];
        char *const place = to + (end + p->size - 1) / p->size * p->size;
        if (p->part == VALUE) {
            store_number(place, &signature->arguments[p->argument], p->size, argument);
        } else if (p->part == DATA) {
            const uintptr_t address = address_of(argument);
            memcpy(place, &address, sizeof address);
        } else {
            const DLTensor *const a = argument;
            const int64_t number = p->part == SHAPE ? a->shape[p->axis] : stride_of(a, p->axis);
            memcpy(place, &number, p->size);
        }
        if (places) places[i] = place;
        end = (size_t)(place - to) + p->size;
    }
}

/* ---- launches ---- */

static bool has_code(const struct variant *variant, bool on_gpu) {
#ifdef PYCU2C_IMAGES
    if (on_gpu) return variant->entry != NULL;
#endif
#ifdef PYCU2C_COROUTINES
    if (!on_gpu && variant->coroutines) return true;
#endif
#ifdef PYCU2C_HAS_CPU
    if (!on_gpu) return variant->body != NULL;
#endif
    (void)variant;
    return false;
}

static const struct variant *find_variant(const struct signature *signature, const struct launch *l,
                                          bool on_gpu) {
    const bool has_small = has_small_indices(signature, l);
    for (int i = 0; i < signature->variant_count; i++) {
        const struct variant *const v = &signature->variants[i];
        const bool fits_block = v->block[0] == l->block.x && v->block[1] == l->block.y
                                && v->block[2] == l->block.z;
        if ((v->block[0] == 0 || fits_block) && (!v->needs_small_indices || has_small)
            && has_code(v, on_gpu))
            return v;
    }
    return NULL;
}

#ifdef PYCU2C_HAS_CPU
#ifdef PYCU2C_COROUTINES
static pycu2c_status run_coroutines(const struct variant *variant, const void *arguments,
                                    int64_t blocks, const struct launch *l) {
    struct watched_memory regions[MAX_ARGUMENTS];
    int count = 0;
    for (int i = 0; i < l->kernel->argument_count; i++) {
        uintptr_t first, end;
        if (l->kernel->signatures->arguments[i].axes < 0) continue;
        region_of(l->arguments[i], &first, &end);
        regions[count++] = (struct watched_memory){(const char *)first, (int64_t)(end - first)};
    }
    switch (schedule(variant->coroutines, arguments, blocks, regions, count)) {
        case 0:
            return PYCU2C_SUCCESS;
        case 64:
            return fail(PYCU2C_DEADLOCK, "%s: no thread can make progress", l->kernel->name);
        default:
            return fail(PYCU2C_OUT_OF_MEMORY, "%s: too little memory for the threads of its blocks",
                        l->kernel->name);
    }
}
#endif

static pycu2c_status run_on_cpu(const struct variant *variant, const struct signature *signature,
                                const struct launch *l) {
    struct {
        int32_t grid[3], block[3];
        int64_t shared_bytes;
        _Alignas(8) char parameters[MAX_PARAMETER_BYTES];
    } arguments;
#if defined(__x86_64__) && defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2"))
        return fail(PYCU2C_UNSUPPORTED_DEVICE, "the library is compiled for processors with AVX2");
#endif
    const int32_t grid[] = {(int32_t)l->grid.x, (int32_t)l->grid.y, (int32_t)l->grid.z};
    const int32_t block[] = {(int32_t)l->block.x, (int32_t)l->block.y, (int32_t)l->block.z};
    memcpy(arguments.grid, grid, sizeof grid);
    memcpy(arguments.block, block, sizeof block);
    arguments.shared_bytes = (int64_t)l->shared_bytes;
    store_parameters(arguments.parameters, NULL, &variant->of_cpu, signature, l);
    const int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
#ifdef PYCU2C_COROUTINES
    if (variant->coroutines) return run_coroutines(variant, &arguments, blocks, l);
#endif
    run_blocks(variant->body, &arguments, blocks);
    return PYCU2C_SUCCESS;
}
#endif

#ifdef PYCU2C_IMAGES
static pycu2c_status run_on_gpu(const struct variant *variant, const struct signature *signature,
                                const struct launch *l, int ordinal) {
    _Alignas(8) char parameters[MAX_PARAMETER_BYTES];
    void *places[MAX_PARAMETERS];
    const struct gpu_launch gpu = {
        variant->entry, variant->loaded, l->grid, l->block, l->shared_bytes, l->stream, places,
        l->kernel->is_cooperative,
    };
    store_parameters(parameters, places, &variant->of_gpu, signature, l);
    return launch_on_gpu(&gpu, ordinal);
}
#endif

static pycu2c_status launch(const struct launch *l) {
    const struct kernel *const kernel = l->kernel;
    DLDevice device = {kDLCPU, 0};
    pycu2c_status status = check_configuration(l);
    for (int i = 0; !status && i < kernel->argument_count; i++)
        if (kernel->signatures->arguments[i].axes >= 0)
            status = check_array(&kernel->signatures->arguments[i], l->arguments[i]);
    if (!status) status = find_device(l, &device);
    if (status) return status;
    const struct signature *const signature = find_signature(l);
    if (!signature) return reject_types(l);
    for (int i = 0; !status && i < kernel->argument_count; i++)
        if (signature->arguments[i].axes >= 0)
            status = check_layout(&signature->arguments[i], l->arguments[i]);
    if (!status) status = check_numbers(signature, l);
    if (!status) status = check_overlap(signature, l);
    if (status) return status;
    const bool on_gpu = device.device_type == kDLCUDA;
    const struct variant *const variant = find_variant(signature, l, on_gpu);
    if (!variant)
        return fail(PYCU2C_UNSUPPORTED_DEVICE, "the library has no code for %s",
                    on_gpu ? "GPUs" : "the CPU");
#ifdef PYCU2C_IMAGES
    if (on_gpu) return run_on_gpu(variant, signature, l, device.device_id);
#endif
#ifdef PYCU2C_HAS_CPU
    return run_on_cpu(variant, signature, l);
#else
    return PYCU2C_SUCCESS;
#endif
}
