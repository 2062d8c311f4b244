/* The start of every argument buffer of a kernel on the CPU: generated kernels, the thread pool and
 * the dispatch table read it. Python packs it with `HEAD` (runtime/launch_configuration.py); the module
 * exports its size, and a test compares both. */
#ifndef PYCU2C_LAUNCH_HEADER_H
#define PYCU2C_LAUNCH_HEADER_H

#include <stdint.h>

typedef struct {
    int32_t grid[3], block[3];
    int64_t shared_bytes; /* dynamic shared memory of a block */
} LaunchHeader;

#endif
