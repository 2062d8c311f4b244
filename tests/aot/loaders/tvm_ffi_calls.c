/* Call the functions of libfinance_tvm_ffi: tvm_ffi_calls cpu|cuda. Prints the errors. */
#include <tvm/ffi/extra/c_env_api.h>

#include "finance.h"

#include "device_memory.h"

enum { COUNT = 1000, BLOCKS = 8, ARGUMENTS = 5 };

int __tvm_ffi_block_sums(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result);

static double input[COUNT], sums[BLOCKS];
static int64_t count[] = {COUNT}, blocks[] = {BLOCKS};
static DLTensor from, to;
static struct {
    TVMFFIObject object;
    TVMFFISeqCell items;
} tuple;
static struct {
    TVMFFIObject object;
    TVMFFIShapeCell lengths;
} shape;

static void call(const char *what, const TVMFFIAny *arguments, int32_t size) {
    TVMFFIAny result = {.type_index = kTVMFFINone};
    const int status = __tvm_ffi_block_sums(NULL, arguments, size, &result);
    TVMFFIObjectHandle error = NULL;
    printf("%s: %d", what, status);
    if (status) {
        TVMFFIErrorMoveFromRaised(&error);
        require(error != NULL, "no error is raised");
        const TVMFFIErrorCell *const cell = (const void *)((char *)error + sizeof(TVMFFIObject));
        printf(" %s: %s", cell->kind.data, cell->message.data);
        TVMFFIObjectDecRef(error);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    require(argc == 2, "tvm_ffi_calls cpu|cuda");
    use_device(argv[1]);
    for (int i = 0; i < COUNT; i++) input[i] = 1;
    from = (DLTensor){on_device(input, sizeof input), test_device, 1, {kDLFloat, 64, 1}, count, NULL, 0};
    to = (DLTensor){on_device(sums, sizeof sums), test_device, 1, {kDLFloat, 64, 1}, blocks, NULL, 0};
    TVMFFIAny lengths[] = {{.type_index = kTVMFFIInt, .v_int64 = BLOCKS},
                           {.type_index = kTVMFFIInt, .v_int64 = 1},
                           {.type_index = kTVMFFIFloat, .v_float64 = 1},
                           {.type_index = kTVMFFIInt, .v_int64 = 1}};
    tuple.items = (TVMFFISeqCell){lengths, 2, 2, NULL};
    shape.lengths = (TVMFFIShapeCell){blocks, 1};
    const TVMFFIAny right[ARGUMENTS] = {{.type_index = kTVMFFIDLTensorPtr, .v_ptr = &from},
                                        {.type_index = kTVMFFIDLTensorPtr, .v_ptr = &to},
                                        {.type_index = kTVMFFIInt, .v_int64 = 7},
                                        {.type_index = kTVMFFIArray, .v_obj = &tuple.object},
                                        {.type_index = kTVMFFIInt, .v_int64 = 128}};
    TVMFFIAny arguments[ARGUMENTS];
    memcpy(arguments, right, sizeof right);
    call("right", arguments, ARGUMENTS);
    call("too few", arguments, ARGUMENTS - 1);
    call("none", arguments, 0);
    for (int i = 0; i < ARGUMENTS; i++) {
        char what[] = "argument 0 is None";
        what[9] = (char)('0' + i);
        arguments[i] = (TVMFFIAny){.type_index = kTVMFFINone};
        call(what, arguments, ARGUMENTS);
        arguments[i] = right[i];
    }
    tuple.items.size = 4;
    call("a tuple of 4", arguments, ARGUMENTS);
    tuple.items.size = 3;
    call("a tuple with a float", arguments, ARGUMENTS);
    arguments[3] = (TVMFFIAny){.type_index = kTVMFFIShape, .v_obj = &shape.object};
    call("a shape", arguments, ARGUMENTS);
    from.dtype.bits = 32;
    call("float32", arguments, ARGUMENTS);
    from_device(sums, to.data, sizeof sums);
    from_device(input, from.data, sizeof input);
    for (int i = 0; i < BLOCKS; i++) printf("%g ", sums[i]);
    printf("\n");
    return 0;
}
