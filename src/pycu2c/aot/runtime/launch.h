/* Check the arguments of a launch, select a compiled variant, and run it on a GPU or the CPU.
 *
 * Generated tables describe the kernels. Each signature of a kernel has a variant for all launches, and
 * others that are specialized for 32-bit indices or for a block shape.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <math.h>
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

#ifdef PYCU2C_AVX512
#define AVX512(name) name
#else
#define AVX512(name) NULL
#endif

enum { MAX_AXES = 16, MAX_ARGUMENTS = 64, MAX_PARAMETERS = 256, MAX_PARAMETER_BYTES = 4096 };
enum { INDEX32_LIMIT = 1 << 30, BLOCKS32_LIMIT = 1 << 22 };
#define MAX_ELEMENTS ((int64_t)1 << 48)
#define MAX_SHARED_BYTES ((size_t)227 * 1024)

enum part { VALUE, DATA, SHAPE, STRIDE };

/* A parameter of a compiled kernel: which part of which argument it receives. size: in bytes. */
struct parameter {
    uint8_t part, argument, axis, size;
};

struct parameters {
    const struct parameter *list;
    int count;
};

/* How a launch function receives an argument: as const DLTensor *, int64_t, double or pycu2c_complex. */
enum passing { AS_TENSOR, AS_INT64, AS_DOUBLE, AS_COMPLEX };

/* The requirements on an argument.
 *
 * type: the type of a number or of array elements. A record is a uint8 with a lane for each byte. An
 *     array may have the lanes of its elements along an additional last axis.
 * axes: the number of axes of an array.
 * alignment: the alignment of elements, in bytes.
 * passed: how the launch function receives the argument.
 * limit: the limit on an integer's magnitude for 32-bit indices; 0 if there is none. */
struct argument {
    const char *name;
    DLDataType type;
    int8_t axes;
    uint8_t alignment;
    bool is_contiguous;
    enum passing passed;
    int64_t limit;
};

/* A specialization of a kernel. block: the block shape that it requires; 0 for any. */
struct variant {
    bool needs_small_indices;
    uint32_t block[3];
#ifdef PYCU2C_HAS_CPU
    kernel_body *avx512; /* NULL if the function is not compiled for AVX-512 */
    kernel_body *body; /* NULL if the threads are coroutines */
#ifdef PYCU2C_COROUTINES
    const struct coroutine_kernel *coroutines;
#endif
    struct parameters cpu_parameters;
#endif
#ifdef PYCU2C_IMAGES
    const char *entry;
    loaded_function *loaded;
    struct parameters gpu_parameters;
#endif
};

struct signature {
    const struct argument *arguments;
    const struct variant *variants; /* a launch uses the first whose requirements it meets */
    int variant_count;
};

/* An array that a kernel writes must not overlap one that it reads. may_be_same: unless both are the
 * same array. */
struct overlap_rule {
    uint8_t written, read;
    bool may_be_same;
};

/* max_threads: the limit on the threads of a block. */
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
    const void *const *arguments; /* a DLTensor or a number each */
    pycu2c_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
    int first_variant; /* skip earlier ones */
};

static bool is_array(const struct argument *expected) { return expected->passed == AS_TENSOR; }

/* Return how many elements along the last axis of an array are lanes of one element; 1 if none. */
static int lanes_of_axis(const struct argument *expected, const DLTensor *a) {
    return a->dtype.lanes == 1 ? expected->type.lanes : 1;
}

/* Return whether an array has the required type and number of axes. */
static bool has_type(const struct argument *expected, const DLTensor *a) {
    const int lanes = lanes_of_axis(expected, a);
    if (a->dtype.code != expected->type.code || a->dtype.bits != expected->type.bits
        || a->dtype.lanes * lanes != expected->type.lanes)
        return false;
    if (lanes == 1) return a->ndim == expected->axes;
    return a->ndim == expected->axes + 1 && a->shape[a->ndim - 1] == lanes;
}

#include "argument_checks.h"

/* ---- the signature and the variant of a launch ---- */

static bool has_types(const struct signature *signature, const struct launch *l) {
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (is_array(expected) && !has_type(expected, l->arguments[i])) return false;
    }
    return true;
}

static bool has_layouts(const struct signature *signature, const struct launch *l) {
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (is_array(expected) && expected->is_contiguous && !is_c_contiguous(l->arguments[i]))
            return false;
    }
    return true;
}

/* Return the first signature that the arrays match, else one that they match except for their layout,
 * else NULL. */
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
    char expected_name[32], name[32], with_axis[64] = "";
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &l->kernel->signatures->arguments[i];
        const DLTensor *const a = l->arguments[i];
        if (!is_array(expected)) continue;
        const int axes = expected->axes;
        if (l->kernel->signature_count == 1 || (a->ndim != axes && expected->type.lanes == 1)) {
            if (has_type(expected, a)) continue;
            if (expected->type.lanes > 1)
                snprintf(with_axis, sizeof with_axis, ", or one more axis of length %d",
                         expected->type.lanes);
            return fail(PYCU2C_INVALID_ARGUMENT, "%s is %s with %d %s, and %s takes %s with %d%s",
                        expected->name, type_name(a->dtype, name, sizeof name), a->ndim,
                        a->ndim == 1 ? "axis" : "axes",
                        l->kernel->name,
                        type_name(expected->type, expected_name, sizeof expected_name), axes,
                        with_axis);
        }
    }
    int end = snprintf(message, sizeof message, "%s is not compiled for ", l->kernel->name);
    for (int i = 0; i < l->kernel->argument_count && end < (int)sizeof message; i++) {
        if (!is_array(&l->kernel->signatures->arguments[i])) continue;
        const DLTensor *const a = l->arguments[i];
        end += snprintf(message + end, sizeof message - (size_t)end, "%s%s %s", i ? ", " : "",
                        l->kernel->signatures->arguments[i].name,
                        type_name(a->dtype, name, sizeof name));
    }
    return PYCU2C_INVALID_ARGUMENT;
}

static bool has_small_indices(const struct signature *signature, const struct launch *l) {
    const uint32_t blocks[] = {l->grid.x, l->grid.y, l->grid.z};
    const uint32_t threads[] = {l->block.x, l->block.y, l->block.z};
    for (int axis = 0; axis < 3; axis++)
        if (blocks[axis] > BLOCKS32_LIMIT || (int64_t)blocks[axis] * threads[axis] >= INDEX32_LIMIT)
            return false;
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &signature->arguments[i];
        if (is_array(expected)) {
            const DLTensor *const a = l->arguments[i];
            if (spanned_elements(a) / lanes_of_axis(expected, a) > INDEX32_LIMIT) return false;
            for (int axis = 0; axis < a->ndim; axis++)
                if (a->shape[axis] == 0 || a->shape[axis] >= INDEX32_LIMIT) return false;
        } else if (expected->limit) {
            const int64_t number = integer_of(expected, l->arguments[i]);
            if (number > expected->limit || number < -expected->limit) return false;
        }
    }
    return true;
}

/* ---- parameters ---- */

/* Return the bits of the nearest float of 16 bits, given the bits of its exponent and of its fraction. */
static uint16_t half_of(double number, int exponent_bits, int fraction_bits) {
    const int least = 3 - (1 << (exponent_bits - 1)); /* exponent of the smallest normal number */
    const int infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    int exponent, bits = infinity;
    (void)frexp(number, &exponent);
    if (number == 0 || exponent < least) exponent = least;
    if (isnan(number)) {
        bits = infinity + (1 << (fraction_bits - 1));
    } else if (!isinf(number)) {
        bits = (exponent - least) << fraction_bits;
        bits += (int)rint(ldexp(fabs(number), fraction_bits + 1 - exponent));
        if (bits > infinity) bits = infinity;
    }
    return (uint16_t)(bits | (signbit(number) ? 0x8000 : 0));
}

static void store_float(char *to, DLDataType type, double number) {
    if (type.bits == 16) {
        const uint16_t half = type.code == kDLBfloat ? half_of(number, 8, 7) : half_of(number, 5, 10);
        memcpy(to, &half, sizeof half);
    } else if (type.bits == 32) {
        const float rounded = (float)number;
        memcpy(to, &rounded, sizeof rounded);
    } else {
        memcpy(to, &number, sizeof number);
    }
}

static void store_number(char *to, const struct argument *argument, int size, const void *from) {
    if (argument->type.code == kDLComplex) {
        const DLDataType component = {kDLFloat, (uint8_t)(argument->type.bits / 2), 1};
        const pycu2c_complex *const number = from;
        store_float(to, component, number->real);
        store_float(to + size / 2, component, number->imag);
        return;
    }
    if (is_float(argument->type)) {
        store_float(to, argument->type, *(const double *)from);
        return;
    }
    const int64_t number = integer_of(argument, from);
    if (argument->type.code == kDLBool) *to = number != 0;
    else memcpy(to, &number, (size_t)size); /* little-endian */
}

/* Store the parameters with natural alignment, and their addresses, unless `addresses` is NULL. */
static void store_parameters(char *to, void **addresses, const struct parameters *parameters,
                             const struct signature *signature, const struct launch *l) {
    size_t end = 0;
    for (int i = 0; i < parameters->count; i++) {
        const struct parameter *const p = &parameters->list[i];
        const void *const argument = l->arguments[p->argument];
        char *const target = to + (end + p->size - 1) / p->size * p->size;
        if (p->part == VALUE) {
            store_number(target, &signature->arguments[p->argument], p->size, argument);
        } else if (p->part == DATA) {
            const uintptr_t address = address_of(argument);
            memcpy(target, &address, sizeof address);
        } else {
            const DLTensor *const a = argument;
            const int lanes = lanes_of_axis(&signature->arguments[p->argument], a);
            const int64_t number = p->part == SHAPE ? a->shape[p->axis] : stride_of(a, p->axis) / lanes;
            memcpy(target, &number, p->size);
        }
        if (addresses) addresses[i] = target;
        end = (size_t)(target - to) + p->size;
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
    for (int i = l->first_variant; i < signature->variant_count; i++) {
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
/* Return the status for the exit code of a scheduler. */
static pycu2c_status status_of(int code, const struct launch *l) {
    const char *const name = l->kernel->name;
    switch (code) {
        case 0:
            return PYCU2C_SUCCESS;
        case 64:
            return fail(PYCU2C_DEADLOCK, "%s: no thread can make progress", name);
        default:
            return fail(PYCU2C_OUT_OF_MEMORY, "%s: too little memory for the threads of its blocks",
                        name);
    }
}

static pycu2c_status run_coroutines(const struct variant *variant, const void *arguments,
                                    int64_t blocks, const struct launch *l) {
    struct watched_memory regions[MAX_ARGUMENTS];
    int count = 0;
    for (int i = 0; i < l->kernel->argument_count; i++) {
        uintptr_t first, end;
        if (!is_array(&l->kernel->signatures->arguments[i])) continue;
        region_of(l->arguments[i], &first, &end);
        regions[count++] = (struct watched_memory){(const char *)first, (int64_t)(end - first)};
    }
    PYCU2C_COROUTINES(set_memory)(regions, count);
    return status_of(PYCU2C_COROUTINES(run_coroutines)(variant->coroutines, arguments, blocks), l);
}
#endif

static bool has_avx512(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static pycu2c_status run_cpu_variant(const struct variant *variant, const struct signature *signature,
                                     const struct launch *l) {
    struct {
        int32_t grid[3], block[3];
        int64_t shared_bytes;
        _Alignas(16) char parameters[MAX_PARAMETER_BYTES];
    } arguments;
#if defined(__x86_64__) && defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2"))
        return fail(PYCU2C_UNSUPPORTED_DEVICE, "the library is compiled for processors with AVX2");
#endif
    const char *const thread_limit = invalid_thread_limit();
    if (thread_limit)
        return fail(PYCU2C_INVALID_ARGUMENT,
                    "the environment variable PYCU2C_THREADS is '%s': set it to a number of "
                    "threads, 1 or more, or unset it",
                    thread_limit);
    const int32_t grid[] = {(int32_t)l->grid.x, (int32_t)l->grid.y, (int32_t)l->grid.z};
    const int32_t block[] = {(int32_t)l->block.x, (int32_t)l->block.y, (int32_t)l->block.z};
    memcpy(arguments.grid, grid, sizeof grid);
    memcpy(arguments.block, block, sizeof block);
    arguments.shared_bytes = (int64_t)l->shared_bytes;
    store_parameters(arguments.parameters, NULL, &variant->cpu_parameters, signature, l);
    const int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
#ifdef PYCU2C_COROUTINES
    use_pool();
    if (variant->coroutines) return run_coroutines(variant, &arguments, blocks, l);
#endif
    run_blocks(variant->avx512 && has_avx512() ? variant->avx512 : variant->body, &arguments, blocks);
    return PYCU2C_SUCCESS;
}
#endif

#ifdef PYCU2C_IMAGES
static pycu2c_status run_gpu_variant(const struct variant *variant, const struct signature *signature,
                                     const struct launch *l, int ordinal) {
    _Alignas(16) char parameters[MAX_PARAMETER_BYTES];
    void *addresses[MAX_PARAMETERS];
    const struct gpu_launch gpu = {
        variant->entry, variant->loaded, l->grid, l->block, l->shared_bytes, l->stream, addresses,
        l->kernel->is_cooperative,
    };
    store_parameters(parameters, addresses, &variant->gpu_parameters, signature, l);
    return launch_function(&gpu, ordinal);
}
#endif

/* Check that the arrays are valid and on one device. */
static pycu2c_status check_arrays(const struct launch *l, DLDevice *device) {
    for (int i = 0; i < l->kernel->argument_count; i++) {
        const struct argument *const expected = &l->kernel->signatures->arguments[i];
        if (!is_array(expected)) continue;
        const pycu2c_status status = check_array(expected, l->arguments[i]);
        if (status) return status;
    }
    return find_device(l, device);
}

static pycu2c_status launch(const struct launch *l) {
    const struct kernel *const kernel = l->kernel;
    DLDevice device = {kDLCPU, 0};
    pycu2c_status status = check_configuration(l);
    if (!status) status = check_arrays(l, &device);
    if (status) return status;
    const struct signature *const signature = find_signature(l);
    if (!signature) return reject_types(l);
    for (int i = 0; !status && i < kernel->argument_count; i++)
        if (is_array(&signature->arguments[i]))
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
    if (on_gpu) return run_gpu_variant(variant, signature, l, device.device_id);
#endif
#ifdef PYCU2C_HAS_CPU
    return run_cpu_variant(variant, signature, l);
#else
    return PYCU2C_SUCCESS;
#endif
}
