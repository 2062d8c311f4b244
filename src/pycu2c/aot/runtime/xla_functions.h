/* Call kernels as handlers of XLA's foreign function interface (FFI), which JAX uses.
 *
 * The operands of a call are the arrays that the kernel only reads. The results are the other
 * arrays; operands that XLA aliases to results may follow. Attributes are the numbers, `grid`,
 * `block` and `shared_bytes`. XLA may record a launch on a GPU in a command buffer (a CUDA
 * graph).
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <xla/ffi/api/c_api.h>

#include "bindings.h"

static XLA_FFI_Error *xla_error(const XLA_FFI_CallFrame *frame, XLA_FFI_Error_Code code,
                                const char *text) {
    XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, NULL, text, code};
    return frame->api->XLA_FFI_Error_Create(&args);
}

static XLA_FFI_Error *call_error(const XLA_FFI_CallFrame *frame, const struct kernel *kernel,
                                 const char *problem, const char *name) {
    char text[MAX_MESSAGE];
    snprintf(text, sizeof text, "%s: %s%s", kernel->name, problem, name);
    return xla_error(frame, XLA_FFI_Error_Code_INVALID_ARGUMENT, text);
}

static XLA_FFI_Error_Code code_of(pycu2c_status status) {
    switch (status) {
        case PYCU2C_INVALID_ARGUMENT: return XLA_FFI_Error_Code_INVALID_ARGUMENT;
        case PYCU2C_UNSUPPORTED_DEVICE: return XLA_FFI_Error_Code_UNIMPLEMENTED;
        case PYCU2C_OUT_OF_MEMORY: return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
        case PYCU2C_DEADLOCK: return XLA_FFI_Error_Code_ABORTED;
        default: return XLA_FFI_Error_Code_INTERNAL;
    }
}

/* ---- arrays ---- */

static DLDataType type_of(XLA_FFI_DataType type) {
    switch (type) {
        case XLA_FFI_DataType_PRED: return (DLDataType){kDLBool, 8, 1};
        case XLA_FFI_DataType_S8: return (DLDataType){kDLInt, 8, 1};
        case XLA_FFI_DataType_S16: return (DLDataType){kDLInt, 16, 1};
        case XLA_FFI_DataType_S32: return (DLDataType){kDLInt, 32, 1};
        case XLA_FFI_DataType_S64: return (DLDataType){kDLInt, 64, 1};
        case XLA_FFI_DataType_U8: return (DLDataType){kDLUInt, 8, 1};
        case XLA_FFI_DataType_U16: return (DLDataType){kDLUInt, 16, 1};
        case XLA_FFI_DataType_U32: return (DLDataType){kDLUInt, 32, 1};
        case XLA_FFI_DataType_U64: return (DLDataType){kDLUInt, 64, 1};
        case XLA_FFI_DataType_F16: return (DLDataType){kDLFloat, 16, 1};
        case XLA_FFI_DataType_F32: return (DLDataType){kDLFloat, 32, 1};
        case XLA_FFI_DataType_F64: return (DLDataType){kDLFloat, 64, 1};
        case XLA_FFI_DataType_BF16: return (DLDataType){kDLBfloat, 16, 1};
        case XLA_FFI_DataType_C64: return (DLDataType){kDLComplex, 64, 1};
        case XLA_FFI_DataType_C128: return (DLDataType){kDLComplex, 128, 1};
        default: return (DLDataType){UINT8_MAX, 0, 1}; /* not supported by kernels */
    }
}

static DLTensor tensor_of(const XLA_FFI_Buffer *buffer, DLDevice device) {
    const int32_t axes = (int32_t)buffer->rank;
    return (DLTensor){buffer->data, device, axes, type_of(buffer->dtype), buffer->dims, NULL, 0};
}

/* ---- attributes ---- */

/* Return the number of values of an attribute; 0 if it is missing, or neither a number nor an array. */
static int64_t attribute(const XLA_FFI_CallFrame *frame, const char *name, XLA_FFI_DataType *type,
                         const void **values) {
    const XLA_FFI_Attrs *const attrs = &frame->attrs;
    const size_t length = strlen(name);
    for (int64_t i = 0; i < attrs->size; i++) {
        const XLA_FFI_ByteSpan *const found = attrs->names[i];
        if (found->len != length || memcmp(found->ptr, name, length) != 0) continue;
        if (attrs->types[i] == XLA_FFI_AttrType_SCALAR) {
            const XLA_FFI_Scalar *const scalar = attrs->attrs[i];
            *type = scalar->dtype;
            *values = scalar->value;
            return 1;
        }
        if (attrs->types[i] == XLA_FFI_AttrType_ARRAY) {
            const XLA_FFI_Array *const array = attrs->attrs[i];
            *type = array->dtype;
            *values = array->data;
            return (int64_t)array->size;
        }
    }
    return 0;
}

static bool read_integers(const XLA_FFI_CallFrame *frame, const char *name, int64_t *to,
                          int64_t *count, int64_t limit) {
    XLA_FFI_DataType type = XLA_FFI_DataType_INVALID;
    const void *values = NULL;
    *count = attribute(frame, name, &type, &values);
    for (int64_t i = 0; i < *count && i < limit; i++) {
        if (type == XLA_FFI_DataType_S64) to[i] = ((const int64_t *)values)[i];
        else if (type == XLA_FFI_DataType_S32) to[i] = ((const int32_t *)values)[i];
        else if (type == XLA_FFI_DataType_PRED) to[i] = ((const bool *)values)[i];
        else return false;
    }
    return *count > 0 && *count <= limit;
}

static bool read_real(const XLA_FFI_CallFrame *frame, const char *name, double *to) {
    XLA_FFI_DataType type = XLA_FFI_DataType_INVALID;
    const void *value = NULL;
    if (attribute(frame, name, &type, &value) != 1) return false;
    if (type == XLA_FFI_DataType_F64) *to = *(const double *)value;
    else if (type == XLA_FFI_DataType_F32) *to = *(const float *)value;
    else return false;
    return true;
}

/* Read a complex number: an array of its real and imaginary parts. */
static bool read_complex(const XLA_FFI_CallFrame *frame, const char *name, pycu2c_complex *to) {
    XLA_FFI_DataType type = XLA_FFI_DataType_INVALID;
    const void *parts = NULL;
    if (attribute(frame, name, &type, &parts) != 2 || type != XLA_FFI_DataType_F64) return false;
    *to = (pycu2c_complex){((const double *)parts)[0], ((const double *)parts)[1]};
    return true;
}

/* Read a number. Return NULL, or what is wrong. */
static const char *read_number(const XLA_FFI_CallFrame *frame, const struct parameter *p,
                               union value *to) {
    int64_t count;
    if (p->kind == COMPLEX)
        return read_complex(frame, p->name, &to->complex_number) ? NULL
                                                                 : "there is no attribute of two doubles ";
    if (p->kind == REAL)
        return read_real(frame, p->name, &to->real) ? NULL : "there is no float attribute ";
    return read_integers(frame, p->name, &to->integer, &count, 1) ? NULL
                                                                  : "there is no integer attribute ";
}

static bool read_lengths(const XLA_FFI_CallFrame *frame, const char *name, pycu2c_dim3 *to) {
    int64_t lengths[3], count;
    return read_integers(frame, name, lengths, &count, 3) && store_lengths(to, lengths, count);
}

/* ---- calls ---- */

/* Get the stream and the ordinal of the GPU. */
static XLA_FFI_Error *find_gpu(const XLA_FFI_CallFrame *frame, void **stream, int32_t *ordinal) {
    XLA_FFI_Stream_Get_Args of_stream = {
        XLA_FFI_Stream_Get_Args_STRUCT_SIZE, NULL, frame->ctx, NULL};
    XLA_FFI_DeviceOrdinal_Get_Args of_device = {
        XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, NULL, frame->ctx, 0};
    XLA_FFI_Error *error = frame->api->XLA_FFI_Stream_Get(&of_stream);
    if (!error) error = frame->api->XLA_FFI_DeviceOrdinal_Get(&of_device);
    *stream = of_stream.stream;
    *ordinal = of_device.device_ordinal;
    return error;
}

static XLA_FFI_Error *store_values(const XLA_FFI_CallFrame *frame, const struct kernel *kernel,
                                   DLDevice device, struct call *call, DLTensor *tensors) {
    int64_t operands = 0, results = 0;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const struct parameter *const p = &kernel->parameters[i];
        union value *const value = &call->values[i];
        if (p->kind == READ || p->kind == WRITTEN) {
            const bool is_operand = p->kind == READ;
            int64_t *const next = is_operand ? &operands : &results;
            if (*next >= (is_operand ? frame->args.size : frame->rets.size))
                return call_error(frame, kernel, is_operand ? "there is no operand for "
                                                            : "there is no result for ", p->name);
            void *const *const buffers = is_operand ? frame->args.args : frame->rets.rets;
            tensors[i] = tensor_of(buffers[(*next)++], device);
            value->array = &tensors[i];
            continue;
        }
        const char *const problem = read_number(frame, p, value);
        if (problem) return call_error(frame, kernel, problem, p->name);
    }
    return NULL;
}

static XLA_FFI_Error *handle(const XLA_FFI_CallFrame *frame, const struct kernel *kernel,
                             DLDeviceType type) {
    DLTensor tensors[MAX_ARGUMENTS];
    struct call call = {0};
    DLDevice device = {type, 0};
    int64_t shared_bytes = 0, count;
    /* __typeof__: the type has another name in later headers */
    __typeof__(frame->extension_start) const extension = frame->extension_start;
    if (extension && extension->type == XLA_FFI_Extension_Metadata) { /* XLA asks for the version */
        XLA_FFI_Metadata *const metadata = ((XLA_FFI_Metadata_Extension *)extension)->metadata;
        metadata->api_version = (XLA_FFI_Api_Version){
            XLA_FFI_Api_Version_STRUCT_SIZE, NULL, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
        metadata->traits = type == kDLCUDA ? XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE : 0;
        return NULL;
    }
    XLA_FFI_Error *error = NULL;
    if (type == kDLCUDA) error = find_gpu(frame, &call.stream, &device.device_id);
    if (!error) error = store_values(frame, kernel, device, &call, tensors);
    if (error) return error;
    if (!read_lengths(frame, "grid", &call.grid) || !read_lengths(frame, "block", &call.block))
        return call_error(frame, kernel, "grid and block are 1 to 3 lengths each", "");
    if (read_integers(frame, "shared_bytes", &shared_bytes, &count, 1))
        call.shared_bytes = (size_t)shared_bytes;
    const pycu2c_status status = kernel->launch(&call);
    return status ? xla_error(frame, code_of(status), LAST_ERROR()) : NULL;
}

#define EXPORT(kernel)                                                                       \
    __attribute__((visibility("default")))                                                   \
    XLA_FFI_Error *kernel##_on_cpu(XLA_FFI_CallFrame *frame);                                \
    __attribute__((visibility("default")))                                                   \
    XLA_FFI_Error *kernel##_on_cuda(XLA_FFI_CallFrame *frame);                               \
    XLA_FFI_Error *kernel##_on_cpu(XLA_FFI_CallFrame *frame) {                               \
        return handle(frame, &kernel##_kernel, kDLCPU);                                      \
    }                                                                                        \
    XLA_FFI_Error *kernel##_on_cuda(XLA_FFI_CallFrame *frame) {                              \
        return handle(frame, &kernel##_kernel, kDLCUDA);                                     \
    }
