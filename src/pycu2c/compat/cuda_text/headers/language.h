/* CUDA C on the CPU: declaration specifiers, built-in variables, and the launch interface.
 *
 * One OS thread runs a block, so shared memory is thread-local. The threads of a kernel that never waits
 * run in a loop. In other kernels each thread has its own stack (runtime/cpu/fibers.c), and sets threadIdx
 * again when it resumes after a wait. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __CUDACC_RTC__ 1
#define __PYCU2C_CPU__ 1

#undef assert
#define __host__
#define __device__ __attribute__((visibility("default")))
#define __global__ __attribute__((visibility("hidden")))
#define __constant__ __attribute__((visibility("default")))
#define __managed__ __attribute__((visibility("default")))
#define __shared__ static thread_local
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __CUDA_ALIGN__(n) __attribute__((aligned(n)))

#if !defined(__clang__)
#define __builtin_assume(condition) ((void)0)
#endif

constexpr int warpSize = 32;

namespace pycu2c {

struct Kernel { /* as in fibers.c */
    void (*begin)(const void *arguments, int64_t block);
    void (*thread)(int32_t index);
    const int32_t *parameters; /* count, then (size, alignment, kind) of each */
};

struct Services {
    int32_t (*sync_block)(int32_t condition, int32_t line);
    void (*sync_warp)(uint32_t mask, void *operand, void (*combine)(void **, uint32_t), int32_t line);
    uint32_t (*active_lanes)(int32_t line);
    void (*sync_grid)(int32_t line);
    void (*yield)(void);
    void (*fail)(int32_t code);
};

extern "C" {
__attribute__((visibility("default"))) const Services *pycu2c_services_used = nullptr;
}

static inline const Services &services() { return *pycu2c_services_used; }

} // namespace pycu2c
