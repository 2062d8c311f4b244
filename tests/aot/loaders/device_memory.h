/* Copies of arrays on the device of a test: the CPU, or a GPU by the driver API. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pycu2c_runtime.h"

static DLDevice test_device = {kDLCPU, 0};
static void *driver = NULL;

static void require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Return a function of the driver. */
static void *function_of(const char *name) {
    void *const function = dlsym(driver, name);
    require(function != NULL, name);
    return function;
}
#define CALL(name, types, ...)                              \
    do {                                                    \
        int(*function) types;                               \
        void *symbol = function_of(name);                   \
        memcpy(&function, &symbol, sizeof symbol);          \
        require(function(__VA_ARGS__) == 0, name " failed"); \
    } while (0)

static void use_device(const char *name) {
    if (strcmp(name, "cpu") == 0) return;
    void *context = NULL;
    test_device.device_type = kDLCUDA;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    require(driver != NULL, "there is no driver");
    CALL("cuInit", (unsigned), 0);
    CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, 0);
    CALL("cuCtxSetCurrent", (void *), context);
}

/* Return memory of the device with a copy of `data`. */
static void *on_device(const void *data, size_t size) {
    uint64_t address = 0;
    if (test_device.device_type == kDLCPU) {
        void *const memory = malloc(size);
        require(memory != NULL, "too little memory");
        memcpy(memory, data, size);
        return memory;
    }
    CALL("cuMemAlloc_v2", (uint64_t *, size_t), &address, size);
    CALL("cuMemcpyHtoD_v2", (uint64_t, const void *, size_t), address, data, size);
    return (void *)(uintptr_t)address;
}

/* Copy memory of the device to `data`, and free it. */
static void from_device(void *data, void *memory, size_t size) {
    if (test_device.device_type == kDLCPU) {
        memcpy(data, memory, size);
        free(memory);
        return;
    }
    CALL("cuMemcpyDtoH_v2", (void *, uint64_t, size_t), data, (uint64_t)(uintptr_t)memory, size);
    CALL("cuMemFree_v2", (uint64_t), (uint64_t)(uintptr_t)memory);
}
