/* Call kernels as functions of TVM-FFI: KERNEL(arguments..., grid, block[, shared_bytes]).
 *
 * On a GPU, launches are in the stream that TVM-FFI has for the device of the first array.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "bindings.h"

static int raise_error(const char *kind, const struct kernel *kernel, const char *problem,
                       const char *name) {
    char text[MAX_MESSAGE];
    snprintf(text, sizeof text, "%s: %s%s", kernel->name, name, problem);
    TVMFFIErrorSetRaisedFromCStr(kind, text);
    return -1;
}

static const void *contents(const TVMFFIAny *object) {
    return (const char *)object->v_obj + sizeof(TVMFFIObject);
}

static const DLTensor *array_of(const TVMFFIAny *argument) {
    if (argument->type_index == kTVMFFIDLTensorPtr) return argument->v_ptr;
    return argument->type_index == kTVMFFITensor ? contents(argument) : NULL;
}

static bool read_integer(const TVMFFIAny *argument, int64_t *to) {
    if (argument->type_index != kTVMFFIInt && argument->type_index != kTVMFFIBool) return false;
    *to = argument->v_int64;
    return true;
}

static bool read_real(const TVMFFIAny *argument, double *to) {
    int64_t integer;
    if (read_integer(argument, &integer)) *to = (double)integer;
    else if (argument->type_index == kTVMFFIFloat) *to = argument->v_float64;
    else return false;
    return true;
}

/* Read a real number, or a tuple of a real and an imaginary part. */
static bool read_complex(const TVMFFIAny *argument, pycu2c_complex *to) {
    *to = (pycu2c_complex){0, 0};
    if (argument->type_index != kTVMFFIArray) return read_real(argument, &to->real);
    const TVMFFISeqCell *const parts = contents(argument);
    const TVMFFIAny *const list = parts->data;
    return parts->size == 2 && read_real(&list[0], &to->real) && read_real(&list[1], &to->imag);
}

/* Read an integer, a tuple of integers, or a Shape. */
static bool read_lengths(const TVMFFIAny *argument, pycu2c_dim3 *to) {
    int64_t lengths[3] = {0}, count = 1;
    if (argument->type_index == kTVMFFIShape) {
        const TVMFFIShapeCell *const shape = contents(argument);
        return store_lengths(to, shape->data, (int64_t)shape->size);
    }
    if (argument->type_index == kTVMFFIArray) {
        const TVMFFISeqCell *const items = contents(argument);
        count = items->size;
        for (int64_t i = 0; i < count && i < 3; i++)
            if (!read_integer((const TVMFFIAny *)items->data + i, &lengths[i])) return false;
    } else if (!read_integer(argument, &lengths[0])) {
        return false;
    }
    return store_lengths(to, lengths, count);
}

static int store_values(const struct kernel *kernel, const TVMFFIAny *arguments, struct call *call) {
    for (int i = 0; i < kernel->parameter_count; i++) {
        const struct parameter *const p = &kernel->parameters[i];
        union value *const value = &call->values[i];
        if (p->kind == COMPLEX) {
            if (!read_complex(&arguments[i], &value->complex_number))
                return raise_error("TypeError", kernel, " is not a number or a tuple of two", p->name);
        } else if (p->kind == REAL) {
            if (!read_real(&arguments[i], &value->real))
                return raise_error("TypeError", kernel, " is not a number", p->name);
        } else if (p->kind == INTEGER) {
            if (!read_integer(&arguments[i], &value->integer))
                return raise_error("TypeError", kernel, " is not an integer", p->name);
        } else if (!(value->array = array_of(&arguments[i]))) {
            return raise_error("TypeError", kernel, " is not an array", p->name);
        }
    }
    return 0;
}

static void *stream_of(const struct kernel *kernel, const struct call *call) {
    for (int i = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].kind != READ && kernel->parameters[i].kind != WRITTEN) continue;
        const DLDevice device = call->values[i].array->device;
        if (device.device_type != kDLCUDA && device.device_type != kDLCUDAManaged) break;
        return TVMFFIEnvGetStream(kDLCUDA, device.device_id);
    }
    return NULL;
}

static int reject_count(const struct kernel *kernel) {
    char names[MAX_MESSAGE] = "takes (";
    size_t end = strlen(names);
    for (int i = 0; i < kernel->parameter_count && end < sizeof names; i++)
        end += (size_t)snprintf(names + end, sizeof names - end, "%s%s", i ? ", " : "",
                                kernel->parameters[i].name);
    return raise_error("TypeError", kernel, ", grid, block, shared_bytes=0)", names);
}

static int call_function(const struct kernel *kernel, const TVMFFIAny *arguments, int32_t count) {
    struct call call = {0};
    int64_t shared_bytes = 0;
    const TVMFFIAny *const rest = arguments + kernel->parameter_count;
    const int32_t rest_count = count - kernel->parameter_count;
    if (rest_count != 2 && rest_count != 3) return reject_count(kernel);
    if (store_values(kernel, arguments, &call)) return -1;
    if (!read_lengths(&rest[0], &call.grid) || !read_lengths(&rest[1], &call.block))
        return raise_error("ValueError", kernel, " are 1 to 3 lengths each", "grid and block");
    if (rest_count == 3 && (!read_integer(&rest[2], &shared_bytes) || shared_bytes < 0))
        return raise_error("ValueError", kernel, " is a number of bytes", "shared_bytes");
    call.shared_bytes = (size_t)shared_bytes;
    call.stream = stream_of(kernel, &call);
    const pycu2c_status status = kernel->launch(&call);
    if (status == PYCU2C_SUCCESS) return 0;
    const bool is_argument = status == PYCU2C_INVALID_ARGUMENT;
    const char *const kind = is_argument ? "ValueError" : "RuntimeError";
    TVMFFIErrorSetRaisedFromCStr(status == PYCU2C_OUT_OF_MEMORY ? "MemoryError" : kind, LAST_ERROR());
    return -1;
}

#define EXPORT(kernel)                                                                          \
    TVM_FFI_DLL_EXPORT int __tvm_ffi_##kernel(void *self, const TVMFFIAny *arguments,           \
                                              int32_t count, TVMFFIAny *result);                \
    int __tvm_ffi_##kernel(void *self, const TVMFFIAny *arguments, int32_t count,               \
                           TVMFFIAny *result) {                                                 \
        (void)self;                                                                             \
        result->type_index = kTVMFFINone;                                                       \
        return call_function(&kernel##_kernel, arguments, count);                               \
    }
