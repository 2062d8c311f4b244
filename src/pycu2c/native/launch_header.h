/* The start of each argument buffer of a kernel on the CPU. The dispatch table and the coroutine
 * scheduler include this file; generated kernels begin their argument struct with the same fields.
 * Python packs it with `LAUNCH_HEADER` (runtime/launch_configuration.py). A test compares their
 * layouts. */
#ifndef PYCU2C_LAUNCH_HEADER_H
#define PYCU2C_LAUNCH_HEADER_H

#include <stdint.h>

typedef struct {
    int32_t grid[3], block[3];
    int64_t shared_bytes; /* dynamic shared memory of a block, after its static arrays */
} LaunchHeader;

#endif
