/* Time calls of a built library from C: calls [GPU 0|1].
 *
 * Compiled by library_calls.py with the library of kernels.py. On a GPU, the time of a launch function
 * is compared with that of cuLaunchKernel for the same kernel, and its first call with the creation of
 * a context. On the CPU, with the function of the kernel itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scaling.h"

struct image {
    const unsigned char *data;
    size_t size;
    int compute_capability;
    bool is_ptx;
    int module;
};
#include "scaling_images.h"

enum { CALLS = 20000, ROUNDS = 7 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, scaling_last_error());
    exit(1);
}

/* Return the microseconds of a call, the least of several rounds. */
static double time_calls(void (*call)(void), void (*wait)(void)) {
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        for (int i = 0; i < CALLS; i++) call();
        const double end = now();
        wait();
        best = (end - start) / CALLS < best ? (end - start) / CALLS : best;
    }
    return best;
}

static int64_t shape[] = {256};
static DLTensor x = {NULL, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
static const pycu2c_dim3 grid = {1, 1, 1}, block = {256, 1, 1};

static void launch(void) {
    const pycu2c_status status = scaling_scale_launch(&x, 1.5, grid, block, 0, NULL);
    require(status == PYCU2C_SUCCESS, scaling_last_error());
}

static void wait_for_nothing(void) {}

/* ---- on the CPU ---- */

void scaling_scale_body(const void *arguments, int64_t first, int64_t last);

static float numbers[256];
static struct {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    float *data;
    int64_t length;
    float factor;
} arguments = {{1, 1, 1}, {256, 1, 1}, 0, numbers, 256, 1.5f};

static void call_function(void) {
    scaling_scale_body(&arguments, 0, 1);
}

static void time_cpu(void) {
    x.data = numbers;
    const double own = time_calls(launch, wait_for_nothing);
    const double bare = time_calls(call_function, wait_for_nothing);
    printf("{\"launch_us\": %.4f, \"function_us\": %.4f}\n", own, bare);
}

/* ---- on a GPU ---- */

typedef int driver_function();
static driver_function *launch_kernel, *synchronize;
static void *kernel, *memory;

static driver_function *function_of(const char *name) {
    static void *library = NULL;
    driver_function *function;
    if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
    void *const address = library ? dlsym(library, name) : NULL;
    require(address != NULL, name);
    memcpy(&function, &address, sizeof address);
    return function;
}

static void launch_bare(void) {
    int length = 256;
    float factor = 1.5f;
    void *parameters[] = {&memory, &length, &factor};
    const int code = launch_kernel(kernel, 1u, 1u, 1u, 256u, 1u, 1u, 0u, NULL, parameters, NULL);
    require(code == 0, "cuLaunchKernel");
}

static void wait_for_gpu(void) {
    require(synchronize() == 0, "cuCtxSynchronize");
}

static void time_gpu(void) {
    void *context, *module;
    const double start = now();
    require(function_of("cuInit")(0) == 0, "cuInit");
    require(function_of("cuDevicePrimaryCtxRetain")(&context, 0) == 0, "cuDevicePrimaryCtxRetain");
    require(function_of("cuCtxSetCurrent")(context) == 0, "cuCtxSetCurrent");
    const double has_context = now();
    synchronize = function_of("cuCtxSynchronize");
    launch_kernel = function_of("cuLaunchKernel");
    require(function_of("cuMemAlloc_v2")(&memory, sizeof numbers) == 0, "cuMemAlloc");
    require(function_of("cuMemsetD8_v2")(memory, 0, sizeof numbers) == 0, "cuMemsetD8");
    wait_for_gpu();
    x.data = memory;
    x.device.device_type = kDLCUDA;
    const double before = now();
    launch();
    wait_for_gpu();
    const double first = now() - before;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        if (!kernel && function_of("cuModuleLoadData")(&module, images[i].data) == 0)
            require(function_of("cuModuleGetFunction")(&kernel, module, "scale") == 0, "scale");
    launch_bare();
    wait_for_gpu();
    const double own = time_calls(launch, wait_for_gpu), bare = time_calls(launch_bare, wait_for_gpu);
    printf("{\"launch_us\": %.4f, \"cuLaunchKernel_us\": %.4f, \"first_call_us\": %.1f, "
           "\"context_us\": %.1f}\n", own, bare, first, has_context - start);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "1") == 0) time_gpu();
    else time_cpu();
    return 0;
}
