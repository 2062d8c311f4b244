/* Call the handlers of libfinance_xla as XLA does: xla_calls cpu|cuda. Prints the errors. */
#include <xla/ffi/api/c_api.h>

#include "finance.h"

#include "device_memory.h"

enum { COUNT = 1000, BLOCKS = 8 };

struct XLA_FFI_Error {
    XLA_FFI_Error_Code code;
    char message[200];
};

XLA_FFI_Error *block_sums_on_cpu(XLA_FFI_CallFrame *frame);
XLA_FFI_Error *block_sums_on_cuda(XLA_FFI_CallFrame *frame);

static XLA_FFI_Error *create_error(XLA_FFI_Error_Create_Args *args) {
    XLA_FFI_Error *const error = malloc(sizeof *error);
    require(error != NULL, "too little memory");
    error->code = args->errc;
    snprintf(error->message, sizeof error->message, "%s", args->message);
    return error;
}

static XLA_FFI_Error *get_stream(XLA_FFI_Stream_Get_Args *args) {
    args->stream = NULL;
    return NULL;
}

static XLA_FFI_Error *get_ordinal(XLA_FFI_DeviceOrdinal_Get_Args *args) {
    args->device_ordinal = 0;
    return NULL;
}

static const XLA_FFI_Api api = {
    .struct_size = XLA_FFI_Api_STRUCT_SIZE,
    .XLA_FFI_Error_Create = create_error,
    .XLA_FFI_Stream_Get = get_stream,
    .XLA_FFI_DeviceOrdinal_Get = get_ordinal,
};

/* A call of block_sums, which is right; `change_...` makes it wrong. */
static double input[COUNT], sums[BLOCKS];
static int64_t count[] = {COUNT}, blocks[] = {BLOCKS}, lengths[] = {BLOCKS, 1, 1, 1};
static int32_t block[] = {128};
static int64_t first = 7, shared_bytes = 0;
static XLA_FFI_Buffer operand = {.dtype = XLA_FFI_DataType_F64, .rank = 1, .dims = count};
static XLA_FFI_Buffer result = {.dtype = XLA_FFI_DataType_F64, .rank = 1, .dims = blocks};
static XLA_FFI_Array of_grid = {XLA_FFI_DataType_S64, 3, lengths};
static XLA_FFI_Array of_block = {XLA_FFI_DataType_S32, 1, block};
static XLA_FFI_Scalar of_first = {XLA_FFI_DataType_S64, &first};
static XLA_FFI_Scalar of_shared = {XLA_FFI_DataType_S64, &shared_bytes};
static XLA_FFI_ByteSpan names[] = {{"block", 5}, {"first", 5}, {"grid", 4}, {"shared_bytes", 12}};
static XLA_FFI_ByteSpan *name_list[] = {&names[0], &names[1], &names[2], &names[3]};
static XLA_FFI_AttrType types[] = {XLA_FFI_AttrType_ARRAY, XLA_FFI_AttrType_SCALAR,
                                   XLA_FFI_AttrType_ARRAY, XLA_FFI_AttrType_SCALAR};
static void *values[] = {&of_block, &of_first, &of_grid, &of_shared};
static void *operands[] = {&operand}, *results[] = {&result};

static XLA_FFI_CallFrame frame = {
    .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
    .api = &api,
    .stage = XLA_FFI_ExecutionStage_EXECUTE,
    .args = {.size = 1, .args = operands},
    .rets = {.size = 1, .rets = results},
    .attrs = {.size = 4, .types = types, .names = name_list, .attrs = values},
};

static void call(const char *what) {
    const bool on_cpu = test_device.device_type == kDLCPU;
    XLA_FFI_Error *const error = on_cpu ? block_sums_on_cpu(&frame) : block_sums_on_cuda(&frame);
    printf("%s: %d %s\n", what, error ? (int)error->code : 0, error ? error->message : "");
    free(error);
}

/* Call with another value of a variable. */
#define CALL_WITH(variable, changed)                 \
    do {                                             \
        __typeof__(variable) right = variable;       \
        variable = changed;                          \
        call(#variable " = " #changed);              \
        variable = right;                            \
    } while (0)

static void ask_for_the_version(void) {
    XLA_FFI_Metadata metadata = {.struct_size = XLA_FFI_Metadata_STRUCT_SIZE, .traits = 99};
    XLA_FFI_Metadata_Extension extension = {
        {XLA_FFI_Metadata_Extension_STRUCT_SIZE, XLA_FFI_Extension_Metadata, NULL}, &metadata};
    XLA_FFI_CallFrame asking = {.api = &api, .extension_start = &extension.extension_base};
    require(block_sums_on_cpu(&asking) == NULL, "no version");
    require(metadata.api_version.minor_version == XLA_FFI_API_MINOR, "version");
}

int main(int argc, char **argv) {
    require(argc == 2, "xla_calls cpu|cuda");
    use_device(argv[1]);
    for (int i = 0; i < COUNT; i++) input[i] = 1;
    operand.data = on_device(input, sizeof input);
    result.data = on_device(sums, sizeof sums);
    ask_for_the_version();
    call("right");
    CALL_WITH(frame.args.size, 0);
    CALL_WITH(frame.rets.size, 0);
    CALL_WITH(frame.attrs.size, 0);
    CALL_WITH(frame.attrs.size, 2);
    CALL_WITH(names[1].len, 4);
    CALL_WITH(of_first.dtype, XLA_FFI_DataType_F64);
    CALL_WITH(of_grid.size, 4);
    CALL_WITH(of_grid.size, 0);
    CALL_WITH(of_block.dtype, XLA_FFI_DataType_F32);
    CALL_WITH(types[0], XLA_FFI_AttrType_STRING);
    CALL_WITH(lengths[0], -1);
    CALL_WITH(shared_bytes, -1);
    CALL_WITH(operand.dtype, XLA_FFI_DataType_F32);
    CALL_WITH(operand.dtype, XLA_FFI_DataType_F8E5M2);
    CALL_WITH(operand.rank, 0);
    from_device(sums, result.data, sizeof sums);
    from_device(input, operand.data, sizeof input);
    for (int i = 0; i < BLOCKS; i++) printf("%g ", sums[i]);
    printf("\n");
    return 0;
}
