/* The fast path of a launch: a dispatch table of launches that have run. An entry checks the
 * arguments of a call with guards, packs them and starts the compiled kernel. A launch that misses
 * the table takes the Python slow path, which raises all errors. */
#ifndef PYCU2C_DISPATCH_H
#define PYCU2C_DISPATCH_H

#include <pyconfig.h>
#if !defined(Py_LIMITED_API) && !defined(Py_GIL_DISABLED)
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL pycu2c_numpy_api
#ifndef IMPORTS_NUMPY_API /* module.c defines it */
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <stdbool.h>
#include <stdint.h>

#include "launch_header.h"

enum { MAX_AXES = 16, MAX_LEAVES = 64, MAX_ARGUMENT_BYTES = 4096, MAX_ENTRIES = 16 };
#define INDEX32_LIMIT ((int64_t)1 << 30) /* as in limits.py; a test compares them */
#define BLOCKS32_LIMIT ((int64_t)1 << 22)
#define MAX_GRID_YZ 65535

/* ---- objects that Python makes ---- */

/* The configuration of a launch. A grid or block of zeros is inferred from the arguments. */
typedef struct {
    PyObject_HEAD
    LaunchHeader header;
    uintptr_t stream;        /* CUstream */
    bool ordered;            /* the stream and the default stream synchronize with each other */
    PyObject *stream_object; /* the argument of the user */
} LaunchConfiguration;

typedef struct DispatchTableBase DispatchTableBase;

/* The dispatch table of a kernel or None; its configurations share it, `recompile` replaces it. */
typedef struct {
    PyObject_HEAD
    PyObject *table;
} TableReference;

/* The base of device arrays: the attributes that a launch reads. Shape in elements, strides in
 * bytes. */
typedef struct {
    PyObject_HEAD
    PyObject *dtype, *shape, *strides; /* shape and strides: tuples of int */
    npy_intp *extents;                 /* the same as numbers: the shape, then the strides */
    uint64_t address;
    int32_t device; /* an ordinal; -1: memory of the host */
    int32_t ndim;
    char writeable, c_contiguous;
    char unwritten; /* until a launch, or Python code, gets the address of a new allocation */
} DeviceArrayBase;

/* Device memory and pinned host memory for copies of host arrays, for one launch at a time. The
 * functions are cuMemcpyHtoDAsync, cuMemcpyDtoHAsync and cuStreamSynchronize. */
typedef struct {
    PyObject_HEAD
    PyObject *memory; /* keeps both allocated */
    char *device, *host;
    int64_t size;
    bool busy;
    int (*copy_to_device)(uintptr_t to, const void *from, size_t bytes, void *stream);
    int (*copy_to_host)(void *to, uintptr_t from, size_t bytes, void *stream);
    int (*synchronize)(void *stream);
} StagingBuffer;

extern PyTypeObject *dispatch_table_base_type, *launch_configuration_type, *table_reference_type;
extern PyTypeObject *configured_base_type, *kernel_base_type, *device_array_base_type;
extern PyTypeObject *staging_buffer_type, *launch_sequence_type, *tuned_base_type;

extern PyType_Spec dispatch_table_base_spec, launch_configuration_spec, table_reference_spec;
extern PyType_Spec configured_base_spec, kernel_base_spec, device_array_base_spec;
extern PyType_Spec staging_buffer_spec, launch_sequence_spec, tuned_base_spec;

/* Attribute names that the fast path looks up. */
typedef struct {
    PyObject *cuda_array_interface, *data, *shape, *strides, *typestr, *mask, *stream;
    PyObject *used_on, *launch_slow, *own, *configured_as;
    PyObject *requires_grad, *is_conj, *is_neg;
} InternedNames;
extern InternedNames names;

/* ---- entries of a dispatch table ---- */

typedef enum {
    GUARD_NUMPY_ARRAY,
    GUARD_DEVICE_ARRAY,
    GUARD_CUDA_INTERFACE, /* an array with __cuda_array_interface__ */
    GUARD_ATTRIBUTES,     /* an array of a known package, by attributes that are faster to read */
    GUARD_TORCH_TENSOR,
    GUARD_INTEGER,        /* an integer in a range, passed as one of `size` bytes */
    GUARD_INTEGER_TO_FLOAT32,
    GUARD_INTEGER_TO_FLOAT64,
    GUARD_FLOAT64_TO_FLOAT32,
    GUARD_FLOAT32_TO_FLOAT64,
    GUARD_SAME_BYTES, /* a number that is passed as it is */
    GUARD_CONSTANT,   /* one object */
    GUARD_TUPLE       /* a tuple of `count` items, whose guards follow */
} GuardKind;

/* Sources of Python numbers; those of NumPy have their type numbers. */
enum { PYTHON_INT = -1, PYTHON_FLOAT = -2, PYTHON_COMPLEX = -3 };

typedef struct {
    int64_t min, max; /* GUARD_INTEGER_*: the range */
    int32_t source;   /* a type number */
    int32_t size;     /* GUARD_INTEGER: bytes */
    bool exact;       /* GUARD_FLOAT64_TO_FLOAT32: nothing may be rounded */
} ScalarGuard;

typedef struct {
    PyObject *identity; /* NumPy and device arrays: the dtype; GUARD_CUDA_INTERFACE: the typestr;
                           GUARD_ATTRIBUTES: attribute paths; GUARD_TORCH_TENSOR: see
                           torch_tensors.c */
    PyObject *stream_source; /* GUARD_ATTRIBUTES: gives the package's current stream, or None */
    int32_t ndim, itemsize, alignment;
    int32_t flags; /* those NPY_ARRAY_* of flag_mask that the array must have */
    int32_t flag_mask;
    int32_t device; /* GUARD_DEVICE_ARRAY and GUARD_TORCH_TENSOR: the ordinal */
    bool is_peer;   /* memory of another device, used in streams that the program orders */
    int64_t min_last_length, max_last_length; /* of the last axis; arrays without axes match */
    bool has_shape;
    int64_t shape[MAX_AXES]; /* that the array must have */
    const struct DlpackExchange *exchange; /* these are for GUARD_TORCH_TENSOR */
    uint8_t code, bits;                    /* of the dtype in DLPack */
    PyObject *is_grad_enabled;             /* borrowed from the identity */
} ArrayGuard;

typedef struct {
    GuardKind kind;
    PyTypeObject *type; /* the exact class of the argument */
    union {
        ArrayGuard array;
        ScalarGuard scalar;
        PyObject *constant;
        Py_ssize_t count; /* GUARD_TUPLE */
    };
} Guard;

typedef enum { FIELD_ADDRESS, FIELD_EXTENT, FIELD_STRIDE, FIELD_VALUE } FieldPart;

/* A parameter of the compiled kernel, and the leaf (an array or number among the flattened
 * arguments) that gives its value. `axis` of FIELD_ADDRESS is the number of axes. */
typedef struct {
    FieldPart part;
    int32_t leaf, axis, offset, size, itemsize;
} Field;

/* Starts a kernel on the CPU by the thread pool. Python raises the error of a nonzero result. */
typedef int (*CpuStart)(void *kernel, const void *arguments, int64_t blocks);
typedef int (*CuLaunchKernel)(
    void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared_bytes,
    void *stream, void **parameters, void **extra
);
/* CUlaunchAttribute with a flag as the value, and CUlaunchConfig */
typedef struct {
    int id;
    char padding[4];
    union {
        int flag;
        char bytes[64];
    } value;
} LaunchAttribute;
typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    LaunchAttribute *attributes;
    unsigned attribute_count;
} LaunchConfig;
typedef int (*CuLaunchKernelEx)(
    const LaunchConfig *config, void *kernel, void **parameters, void **extra
);
typedef int (*CuCtxGetCurrent)(void **context);
typedef int (*CuMemsetD32)(uintptr_t to, unsigned value, size_t count, void *stream);
typedef int (*CuMemcpyDtoH)(void *to, uintptr_t from, size_t bytes, void *stream);
typedef int (*CuStreamSynchronize)(void *stream);

typedef struct {
    int32_t leaf, axis; /* axis -1: the value of a number */
} ExtentSource;

/* The result of a launch that left a number other than 0 in `found`; as in runner.py. */
enum { HAS_FINDINGS = -1 };

typedef struct {
    Py_ssize_t arguments, guard_count, leaf_count, field_count;
    Guard *guards;
    Field *fields;
    int64_t size; /* bytes of the arguments, with the header on the CPU */
    PyObject *initial;         /* the bytes before the fields are packed, or None */
    int64_t grid[3], block[3]; /* zeros: any */
    int64_t shared_bytes;
    int32_t grid_axes; /* of an inferred grid; 0: the grid is not inferred */
    ExtentSource grid_sources[3];
    int64_t cluster[3];             /* divides the grid */
    int64_t min_blocks, max_blocks; /* max_blocks is excluded */
    uint64_t read, written;         /* leaves that must not overlap */
    bool may_be_same;               /* unless they are one array */
    uint64_t staged, staged_back;   /* leaves that are copied to a device, and back */
    union {
        CpuStart cpu_start;
        CuLaunchKernel cu_launch_kernel;
        CuLaunchKernelEx cu_launch_kernel_ex; /* with flags */
    };
    uint64_t flags; /* a bit for each launch attribute that is set */
    void *kernel;
    CuCtxGetCurrent get_context; /* NULL on the CPU */
    void *context;
    StagingBuffer *staging; /* NULL without staged leaves */
    uintptr_t cleared; /* memory that is zeroed before a launch, on a device a multiple of 4 bytes */
    int64_t cleared_size;
    int64_t *found; /* NULL, or a number that a launch may change */
    uintptr_t found_on_device; /* from where a launch on a device copies it */
    CuMemsetD32 cu_memset; /* these three are for memory of a device */
    CuMemcpyDtoH cu_copy_to_host;
    CuStreamSynchronize cu_synchronize;
    bool busy; /* a launch uses this memory; set only with `found` */
    PyObject *signature, *finished, *keep_alive;
} DispatchEntry;

struct DispatchTableBase {
    PyObject_HEAD
    PyObject *kernel;                    /* its name */
    PyObject *names, *defaults;          /* of its parameters: a tuple, and a dict by name */
    PyObject *compared;                  /* owner, name and value of names that it reads, or NULL */
    Py_ssize_t positional;               /* parameters that accept positional arguments */
    int count, last;                     /* entries, and the one that ran last */
    PyObject *latest;                    /* the signature of that one until it is taken; borrowed */
    DispatchEntry *entries[MAX_ENTRIES]; /* never removed: another thread may run one */
};

/* ---- one launch ---- */

typedef union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    double c128[2];
} ConvertedNumber;

/* An array or number of the arguments. */
typedef union {
    struct {
        char *data;
        const npy_intp *shape, *strides;
    };
    struct {
        const void *bytes;
        ConvertedNumber converted;
        int64_t integer;
    };
} Leaf;

typedef struct {
    npy_intp shape[MAX_AXES], strides[MAX_AXES];
} ForeignExtents;

typedef struct {
    const LaunchConfiguration *configuration;
    LaunchHeader header;           /* with the inferred grid */
    ForeignExtents *next_foreign;  /* storage for the next array of another package */
    const PyObject *ordered_after; /* the stream source whose stream precedes the launch */
} Launch;

typedef enum { FAILED = -1, MISSED, LAUNCHED } DispatchResult;

/* dispatch_table.c */
DispatchEntry *entry_from_python(PyObject *entry);
void entry_free(DispatchEntry *entry);
int entry_traverse(DispatchEntry *entry, visitproc visit, void *arg);
DispatchResult dispatch_call(
    DispatchTableBase *table, const LaunchConfiguration *configuration, PyObject *args,
    PyObject *kwargs
);
PyObject *suspend_dispatch(PyObject *module, PyObject *unused);
PyObject *resume_dispatch(PyObject *module, PyObject *unused);
PyObject *recent_kernels(PyObject *module, PyObject *unused);

/* callables.c: a call of a ConfiguredBase by its dispatch table */
DispatchResult configured_dispatch(PyObject *object, PyObject *args);

/* argument_guards.c */
bool arguments_match(const DispatchEntry *entry, PyObject *arguments, Launch *launch, Leaf *leaves);
bool exact_int64(PyObject *object, int64_t *value);

/* array_guards.c */
bool numpy_array_matches(const ArrayGuard *g, PyObject *argument, Leaf *leaf);
bool device_array_matches(
    const ArrayGuard *g, PyObject *argument, const Launch *launch, Leaf *leaf
);
bool cuda_interface_matches(const ArrayGuard *g, PyObject *argument, Launch *launch, Leaf *leaf);
bool attributes_match(const ArrayGuard *g, PyObject *argument, Launch *launch, Leaf *leaf);
bool are_contiguous(
    const ArrayGuard *g, const npy_intp *shape, npy_intp *strides, bool has_strides
);
bool layout_matches(const ArrayGuard *g, const Leaf *leaf, int32_t flags);

/* torch_tensors.c */
bool read_torch_identity(ArrayGuard *g);
bool torch_tensor_matches(const ArrayGuard *g, PyObject *argument, Launch *launch, Leaf *leaf);

/* scalar_guards.c */
bool scalar_matches(const Guard *g, PyObject *argument, Leaf *leaf);

/* small_copies.c */
typedef struct {
    char *host;
    int64_t offset, size;
    bool copied_back;
} StagedArray;

typedef struct {
    int64_t count, size;
    int64_t back_begin, back_end; /* the bytes that are copied back */
    StagedArray arrays[MAX_LEAVES];
} StagedArrays;

bool stage_arrays(const DispatchEntry *entry, Leaf *leaves, StagedArrays *staged);
int copy_staged_in(const StagingBuffer *buffer, const StagedArrays *staged, void *stream);
int copy_staged_back(const StagingBuffer *buffer, const StagedArrays *staged, void *stream);

/* launch.c */
bool launch_entry(DispatchEntry *entry, Launch *launch, PyObject *arguments, int *code);

/* module.c */
bool clear_ordinary_error(void);
void free_instance(PyObject *self); /* the end of every tp_dealloc */

#endif
