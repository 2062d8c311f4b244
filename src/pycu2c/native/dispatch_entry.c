/* Dispatch entries from the Python objects that describe them (runtime/dispatch/table.py and
 * guards.py). Attributes are read by name, so no memory layout is shared with Python. */
#include "attributes.h"

#define NUMBER_OF(names) ((int)(sizeof(names) / sizeof *(names)))

/* ---- guards ---- */

static const char *const guard_kinds[] = {
    [GUARD_NUMPY_ARRAY] = "numpy_array",
    [GUARD_DEVICE_ARRAY] = "device_array",
    [GUARD_CUDA_INTERFACE] = "cuda_interface",
    [GUARD_ATTRIBUTES] = "attributes",
    [GUARD_TORCH_TENSOR] = "torch_tensor",
    [GUARD_INTEGER] = "integer",
    [GUARD_INTEGER_TO_FLOAT32] = "integer_to_float32",
    [GUARD_INTEGER_TO_FLOAT64] = "integer_to_float64",
    [GUARD_FLOAT64_TO_FLOAT32] = "float64_to_float32",
    [GUARD_FLOAT32_TO_FLOAT64] = "float32_to_float64",
    [GUARD_SAME_BYTES] = "same_bytes",
    [GUARD_CONSTANT] = "constant",
    [GUARD_TUPLE] = "tuple",
};

static bool read_flags(PyObject *from, ArrayGuard *g) {
    bool contiguous, writeable, owns_memory;
    if (!read_bool(from, "contiguous", &contiguous) || !read_bool(from, "writeable", &writeable) ||
        !read_bool(from, "owns_memory", &owns_memory)) {
        return false;
    }
    g->flags = (writeable ? NPY_ARRAY_WRITEABLE : 0) | (owns_memory ? NPY_ARRAY_OWNDATA : 0);
    g->flag_mask = g->flags | NPY_ARRAY_C_CONTIGUOUS; /* a guard accepts one of the two */
    if (contiguous) g->flags |= NPY_ARRAY_C_CONTIGUOUS;
    return true;
}

/* A tuple, or None. */
static bool read_shape(PyObject *from, ArrayGuard *g) {
    PyObject *shape;
    if (!read_object(from, "shape", &shape)) return false;
    g->has_shape = shape != Py_None;
    Py_DECREF(shape);
    if (!g->has_shape || g->ndim < 0 || g->ndim > MAX_AXES) return true;
    return read_int64s(from, "shape", g->shape, g->ndim);
}

static bool read_array_guard(PyObject *from, ArrayGuard *g) {
    return read_object(from, "identity", &g->identity) &&
           read_object(from, "stream_source", &g->stream_source) &&
           read_int32(from, "ndim", &g->ndim) && read_int32(from, "itemsize", &g->itemsize) &&
           read_int32(from, "alignment", &g->alignment) && read_flags(from, g) &&
           read_int32(from, "device", &g->device) && read_bool(from, "is_peer", &g->is_peer) &&
           read_int64(from, "min_last_length", &g->min_last_length) &&
           read_int64(from, "max_last_length", &g->max_last_length) && read_shape(from, g);
}

/* Finds the type number by which scalar_guards.c reads the numbers of a class. */
static bool find_source(PyTypeObject *type, int32_t *source) {
    if (type == &PyLong_Type || type == &PyBool_Type) return *source = PYTHON_INT, true;
    if (type == &PyFloat_Type) return *source = PYTHON_FLOAT, true;
    if (type == &PyComplex_Type) return *source = PYTHON_COMPLEX, true;
    PyArray_Descr *dtype = PyArray_DescrFromTypeObject((PyObject *)type);
    if (!dtype) return false;
    *source = dtype->type_num;
    Py_DECREF((PyObject *)dtype);
    return true;
}

static bool read_scalar_guard(PyObject *from, PyTypeObject *type, ScalarGuard *g) {
    return PyType_Check((PyObject *)type) && find_source(type, &g->source) &&
           read_int32(from, "size", &g->size) && read_int64(from, "min", &g->min) &&
           read_int64(from, "max", &g->max) && read_bool(from, "exact", &g->exact);
}

static bool is_array_guard(const Guard *g) { return g->kind <= GUARD_TORCH_TENSOR; }

/* Whether the other files can read the guard without checks. */
static bool is_valid_guard(Guard *g) {
    if (!PyType_Check((PyObject *)g->type)) return false;
    if (g->kind == GUARD_TUPLE) return PyType_IsSubtype(g->type, &PyTuple_Type);
    if (!is_array_guard(g)) return true;
    if (g->array.ndim < 0 || g->array.ndim > MAX_AXES || g->array.itemsize < 1) return false;
    if (g->kind == GUARD_NUMPY_ARRAY) return PyType_IsSubtype(g->type, &PyArray_Type);
    if (g->kind == GUARD_DEVICE_ARRAY) return PyType_IsSubtype(g->type, device_array_base_type);
    if (g->kind == GUARD_TORCH_TENSOR) return read_torch_identity(&g->array);
    return true;
}

static bool read_guard(PyObject *from, Guard *g) {
    int64_t count;
    int kind;
    if (!read_name(from, "kind", guard_kinds, NUMBER_OF(guard_kinds), &kind)) return false;
    g->kind = (GuardKind)kind;
    if (!read_object(from, "type", (PyObject **)&g->type)) return false;
    switch (g->kind) {
    case GUARD_CONSTANT:
        if (!read_object(from, "value", &g->constant)) return false;
        break;
    case GUARD_TUPLE:
        if (!read_int64(from, "count", &count)) return false;
        g->count = (Py_ssize_t)count;
        break;
    default:
        if (!(is_array_guard(g) ? read_array_guard(from, &g->array)
                                : read_scalar_guard(from, g->type, &g->scalar))) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "type is a class");
            return false;
        }
    }
    if (is_valid_guard(g)) return true;
    PyErr_SetString(PyExc_ValueError, "the guard does not fit its type");
    return false;
}

static PyObject **owned_by_guard(Guard *g, int index) {
    if (index == 0) return (PyObject **)&g->type;
    if (is_array_guard(g)) return index == 1 ? &g->array.identity : &g->array.stream_source;
    return g->kind == GUARD_CONSTANT && index == 1 ? &g->constant : NULL;
}

/* ---- entries ---- */

static bool read_guards(PyObject *from, DispatchEntry *entry) {
    PyObject *guards = PyObject_GetAttrString(from, "guards");
    if (!guards) return false;
    Py_ssize_t count = PyTuple_Size(guards);
    if (count >= 0) entry->guards = PyMem_Calloc((size_t)count + 1, sizeof *entry->guards);
    bool read = entry->guards || PyErr_NoMemory();
    for (Py_ssize_t i = 0; read && i < count; i++) {
        entry->guard_count = i + 1;
        read = read_guard(PyTuple_GetItem(guards, i), &entry->guards[i]);
    }
    Py_DECREF(guards);
    return read;
}

static const char *const field_parts[] = {
    [FIELD_ADDRESS] = "address",
    [FIELD_EXTENT] = "extent",
    [FIELD_STRIDE] = "stride",
    [FIELD_VALUE] = "value",
};

static bool read_field(PyObject *from, Field *f) {
    int part;
    if (!read_name(from, "part", field_parts, NUMBER_OF(field_parts), &part)) return false;
    f->part = (FieldPart)part;
    return read_int32(from, "leaf", &f->leaf) && read_int32(from, "axis", &f->axis) &&
           read_int32(from, "offset", &f->offset) && read_int32(from, "size", &f->size) &&
           read_int32(from, "itemsize", &f->itemsize);
}

static bool is_valid_field(const DispatchEntry *entry, const Field *f) {
    return f->leaf >= 0 && f->leaf < entry->leaf_count && f->offset >= 0 && f->size >= 1 &&
           f->offset + f->size <= entry->size && f->itemsize >= 1;
}

static bool read_fields(PyObject *from, DispatchEntry *entry) {
    PyObject *fields = PyObject_GetAttrString(from, "fields");
    if (!fields) return false;
    Py_ssize_t count = PyTuple_Size(fields);
    if (count >= 0) entry->fields = PyMem_Calloc((size_t)count + 1, sizeof *entry->fields);
    bool read = entry->fields || PyErr_NoMemory();
    for (Py_ssize_t i = 0; read && i < count; i++) {
        Field *f = &entry->fields[entry->field_count++];
        read = read_field(PyTuple_GetItem(fields, i), f);
        if (read && !is_valid_field(entry, f)) {
            PyErr_SetString(PyExc_ValueError, "a field is outside of the arguments");
            read = false;
        }
    }
    Py_DECREF(fields);
    return read;
}

static bool read_grid_sources(PyObject *from, DispatchEntry *entry) {
    PyObject *sources = PyObject_GetAttrString(from, "grid_sources");
    if (!sources) return false;
    Py_ssize_t count = PyTuple_Size(sources);
    bool read = count >= 0 && count <= 3;
    for (Py_ssize_t i = 0; read && i < count; i++) {
        ExtentSource *source = &entry->grid_sources[i];
        read = PyArg_ParseTuple(PyTuple_GetItem(sources, i), "ii", &source->leaf, &source->axis) &&
               source->leaf >= 0 && source->leaf < entry->leaf_count;
    }
    entry->grid_axes = (int32_t)count;
    if (!read && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "grid_sources are wrong");
    Py_DECREF(sources);
    return read;
}

static bool read_sizes(PyObject *from, DispatchEntry *entry) {
    int64_t arguments, leaves;
    if (!read_int64(from, "arguments", &arguments) || !read_int64(from, "leaves", &leaves))
        return false;
    entry->arguments = (Py_ssize_t)arguments;
    entry->leaf_count = (Py_ssize_t)leaves;
    return read_int64(from, "size", &entry->size) && read_object(from, "initial", &entry->initial);
}

static bool is_valid_initial(const DispatchEntry *entry) {
    PyObject *initial = entry->initial;
    if (initial == Py_None) return true;
    if (PyBytes_Check(initial) && PyBytes_Size(initial) == entry->size) return true;
    PyErr_SetString(PyExc_ValueError, "initial has the bytes of the arguments");
    return false;
}

static bool read_hidden(PyObject *from, DispatchEntry *entry) {
    PyObject *hidden = PyObject_GetAttrString(from, "hidden");
    if (!hidden) return false;
    bool read = read_address(hidden, "cleared", (void **)&entry->cleared) &&
                read_int64(hidden, "cleared_size", &entry->cleared_size) &&
                read_address(hidden, "found", (void **)&entry->found) &&
                read_address(hidden, "found_on_device", (void **)&entry->found_on_device) &&
                read_address(hidden, "memset", (void **)&entry->cu_memset) &&
                read_address(hidden, "copy_to_host", (void **)&entry->cu_copy_to_host) &&
                read_address(hidden, "synchronize", (void **)&entry->cu_synchronize);
    Py_DECREF(hidden);
    return read;
}

static bool read_launch_guard(PyObject *from, DispatchEntry *entry) {
    return read_int64s(from, "grid", entry->grid, 3) &&
           read_int64s(from, "block", entry->block, 3) &&
           read_int64(from, "shared_bytes", &entry->shared_bytes) &&
           read_grid_sources(from, entry) && read_int64s(from, "cluster", entry->cluster, 3) &&
           read_int64(from, "min_blocks", &entry->min_blocks) &&
           read_int64(from, "max_blocks", &entry->max_blocks) &&
           read_uint64(from, "read", &entry->read) &&
           read_uint64(from, "written", &entry->written) &&
           read_bool(from, "may_be_same", &entry->may_be_same) &&
           read_uint64(from, "staged", &entry->staged) &&
           read_uint64(from, "staged_back", &entry->staged_back);
}

static bool read_staging(PyObject *from, DispatchEntry *entry) {
    PyObject *staging = PyObject_GetAttrString(from, "staging");
    if (!staging) return false;
    if (PyObject_TypeCheck(staging, staging_buffer_type)) {
        entry->staging = (StagingBuffer *)staging;
        return true;
    }
    bool none = staging == Py_None;
    if (!none) PyErr_SetString(PyExc_TypeError, "staging is a StagingBuffer or None");
    Py_DECREF(staging);
    return none;
}

static bool read_start(PyObject *from, DispatchEntry *entry) {
    void *start, *get_context;
    if (!read_address(from, "start", &start) || !read_address(from, "get_context", &get_context)) {
        return false;
    }
    if (get_context) {
        entry->cu_launch_kernel = (CuLaunchKernel)(uintptr_t)start;
        entry->get_context = (CuCtxGetCurrent)(uintptr_t)get_context;
    } else {
        entry->cpu_start = (CpuStart)(uintptr_t)start;
    }
    return read_uint64(from, "flags", &entry->flags) &&
           read_address(from, "kernel", &entry->kernel) &&
           read_address(from, "context", &entry->context) && read_staging(from, entry) &&
           read_object(from, "signature", &entry->signature) &&
           read_object(from, "finished", &entry->finished) &&
           read_object(from, "keep_alive", &entry->keep_alive);
}

/* An entry; NULL without an error if it is larger than entries may be. */
DispatchEntry *entry_from_python(PyObject *from) {
    DispatchEntry *entry = PyMem_Calloc(1, sizeof *entry);
    if (!entry) return (DispatchEntry *)PyErr_NoMemory();
    if (!read_sizes(from, entry)) goto failed;
    if (entry->leaf_count > MAX_LEAVES || entry->size > MAX_ARGUMENT_BYTES) goto failed;
    if (!is_valid_initial(entry)) goto failed;
    if (!read_guards(from, entry) || !read_fields(from, entry)) goto failed;
    if (!read_launch_guard(from, entry) || !read_start(from, entry)) goto failed;
    if (!read_hidden(from, entry)) goto failed;
    return entry;
failed:
    entry_free(entry);
    return NULL;
}

int entry_traverse(DispatchEntry *entry, visitproc visit, void *arg) {
    for (Py_ssize_t i = 0; i < entry->guard_count; i++) {
        for (int k = 0; k < 3; k++) {
            PyObject **owned = owned_by_guard(&entry->guards[i], k);
            if (owned) Py_VISIT(*owned);
        }
    }
    Py_VISIT(entry->signature);
    Py_VISIT(entry->finished);
    Py_VISIT(entry->keep_alive);
    Py_VISIT((PyObject *)entry->staging);
    return 0;
}

void entry_free(DispatchEntry *entry) {
    for (Py_ssize_t i = 0; i < entry->guard_count; i++) {
        for (int k = 0; k < 3; k++) {
            PyObject **owned = owned_by_guard(&entry->guards[i], k);
            if (owned) Py_XDECREF(*owned);
        }
    }
    Py_XDECREF(entry->signature);
    Py_XDECREF(entry->finished);
    Py_XDECREF(entry->keep_alive);
    Py_XDECREF(entry->initial);
    Py_XDECREF((PyObject *)entry->staging);
    PyMem_Free(entry->guards);
    PyMem_Free(entry->fields);
    PyMem_Free(entry);
}
