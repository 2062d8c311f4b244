/* Types of the launch functions that pycu2c generates.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#ifndef PYCU2C_RUNTIME_H_
#define PYCU2C_RUNTIME_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The part of DLPack that launch functions use, if its header is not installed. */
#ifndef DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;

typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6
} DLDataTypeCode;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code; /* a DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL for a C-contiguous array */
    uint64_t byte_offset;
} DLTensor;
#endif

typedef enum pycu2c_status {
    PYCU2C_SUCCESS = 0,
    PYCU2C_INVALID_ARGUMENT = 1,   /* an array, a number, the grid or the block */
    PYCU2C_UNSUPPORTED_DEVICE = 2, /* there is no driver, no such device, or no code for it */
    PYCU2C_OUT_OF_MEMORY = 3,
    PYCU2C_CUDA_ERROR = 4,         /* the driver reports another error */
    PYCU2C_DEADLOCK = 5,           /* on the CPU: no thread can make progress */
} pycu2c_status;

/* The extents of a grid in blocks, or of a block in threads: 1 or more along each axis. */
typedef struct pycu2c_dim3 {
    uint32_t x, y, z;
} pycu2c_dim3;

typedef struct pycu2c_complex {
    double real, imag;
} pycu2c_complex;

#ifdef __cplusplus
}
#endif
#endif
