/* Guards of arrays: whether one has the dtype, axes, flags and alignment that a dispatch entry
 * needs, and where its elements are. Attributes of other packages' arrays may run any code. */
#include "dispatch.h"

static uint64_t magnitude(int64_t n) { return n < 0 ? 0 - (uint64_t)n : (uint64_t)n; }

/* Whether the array has elements, and its lengths and all offsets in elements are below
 * INDEX32_LIMIT. */
static bool fits_index32(const ArrayGuard *g, const Leaf *a, bool contiguous) {
    int64_t elements = 1, span = 0;
    for (int32_t axis = 0; axis < g->ndim; axis++) {
        int64_t n = a->shape[axis], step = a->strides[axis];
        if (n < 1 || n >= INDEX32_LIMIT) return false;
        elements *= n;
        if (elements > INDEX32_LIMIT) return false;
        if (n == 1 || contiguous) continue;
        if (step % g->itemsize || magnitude(step / g->itemsize) >= (uint64_t)INDEX32_LIMIT)
            return false;
        span += (n - 1) * (int64_t)magnitude(step / g->itemsize);
        if (span >= INDEX32_LIMIT) return false;
    }
    return true;
}

static bool last_axis_fits(const ArrayGuard *g, const Leaf *a) {
    if (g->ndim == 0) return true;
    int64_t length = a->shape[g->ndim - 1];
    return g->min_last_length <= length && length <= g->max_last_length;
}

static bool shape_fits(const ArrayGuard *g, const Leaf *a) {
    for (int32_t axis = 0; g->has_shape && axis < g->ndim; axis++) {
        if (a->shape[axis] != g->shape[axis]) return false;
    }
    return true;
}

/* Whether the shape, the strides and the address have what the entry needs. */
static bool memory_fits(const ArrayGuard *g, const Leaf *a, bool contiguous) {
    if (!last_axis_fits(g, a) || !shape_fits(g, a)) return false;
    bool aligned = !((uintptr_t)a->data & (uintptr_t)(g->alignment - 1));
    return aligned && fits_index32(g, a, contiguous);
}

bool numpy_array_matches(const ArrayGuard *g, PyObject *argument, Leaf *leaf) {
    PyArrayObject *array = (PyArrayObject *)argument;
    int flags = PyArray_FLAGS(array);
    if ((PyObject *)PyArray_DESCR(array) != g->identity || PyArray_NDIM(array) != g->ndim)
        return false;
    if ((flags & g->flag_mask) != g->flags) return false;
    leaf->data = PyArray_BYTES(array);
    leaf->shape = PyArray_DIMS(array);
    leaf->strides = PyArray_STRIDES(array);
    return memory_fits(g, leaf, flags & NPY_ARRAY_C_CONTIGUOUS);
}

/* Memory is freed in the order of the default stream: an array records the other streams. */
static bool record_use(PyObject *array, PyObject *stream) {
    PyObject *done = PyObject_CallMethodObjArgs(array, names.used_on, stream, NULL);
    Py_XDECREF(done);
    return done;
}

bool device_array_matches(
    const ArrayGuard *g, PyObject *argument, const Launch *launch, Leaf *leaf
) {
    DeviceArrayBase *array = (DeviceArrayBase *)argument;
    int32_t flags = array->c_contiguous ? NPY_ARRAY_C_CONTIGUOUS : 0;
    if (array->writeable) flags |= NPY_ARRAY_WRITEABLE;
    if (array->dtype != g->identity || array->ndim != g->ndim || array->device != g->device)
        return false;
    if ((flags & g->flag_mask) != g->flags) return false;
    leaf->data = (char *)(uintptr_t)array->address;
    leaf->shape = array->extents;
    leaf->strides = array->extents + array->ndim;
    if (!memory_fits(g, leaf, array->c_contiguous)) return false;
    if (array->unwritten && g->has_shape) return false; /* a launch with checks */
    array->unwritten = false;
    bool ordered = launch->configuration->ordered || g->device < 0;
    if (g->is_peer && ordered) return false; /* a launch that orders two devices */
    return ordered || record_use(argument, launch->configuration->stream_object);
}

/* ---- arrays of other packages ---- */

/* Stores a tuple of `count` ints; false for any other object. */
static bool read_extents(PyObject *tuple, int32_t count, npy_intp *extents) {
    if (!tuple || PyTuple_Size(tuple) != count) return false;
    for (int32_t i = 0; i < count; i++) {
        int64_t value;
        if (!exact_int64(PyTuple_GetItem(tuple, i), &value)) return false;
        extents[i] = (npy_intp)value;
    }
    return true;
}

/* Whether strides are those of a C-contiguous array. Without strides, stores them. */
bool are_contiguous(
    const ArrayGuard *g, const npy_intp *shape, npy_intp *strides, bool has_strides
) {
    npy_intp step = g->itemsize;
    bool same = true, empty = false;
    for (int32_t axis = g->ndim - 1; axis >= 0; axis--) {
        if (!has_strides) strides[axis] = step;
        if (shape[axis] > 1 && strides[axis] != step) same = false;
        if (shape[axis] == 0) empty = true;
        step *= shape[axis];
    }
    return same || empty;
}

/* Whether the flags match, and the memory. */
bool layout_matches(const ArrayGuard *g, const Leaf *leaf, int32_t flags) {
    if ((flags & g->flag_mask) != g->flags) return false;
    return memory_fits(g, leaf, flags & NPY_ARRAY_C_CONTIGUOUS);
}

/* Whether a shape and strides match; tuples, or no strides for a contiguous array. */
static bool extents_match(
    const ArrayGuard *g, PyObject *shape, PyObject *strides, int32_t flags, Launch *launch,
    Leaf *leaf
) {
    bool has_strides = strides && strides != Py_None;
    ForeignExtents *extents = launch->next_foreign++;
    leaf->shape = extents->shape;
    leaf->strides = extents->strides;
    if (!read_extents(shape, g->ndim, extents->shape)) return false;
    if (has_strides && !read_extents(strides, g->ndim, extents->strides)) return false;
    if (are_contiguous(g, extents->shape, extents->strides, has_strides))
        flags |= NPY_ARRAY_C_CONTIGUOUS;
    return layout_matches(g, leaf, flags);
}

/* Whether work on an array in the owner's stream precedes the launch. The default stream has two
 * handles, 0 and 1. */
static bool precedes(int64_t owner, const Launch *launch) {
    int64_t stream = (int64_t)launch->configuration->stream;
    return owner == stream || ((owner | 1) == 1 && (stream | 1) == 1);
}

static bool interface_matches(
    const ArrayGuard *g, PyObject *interface, Launch *launch, Leaf *leaf
) {
    PyObject *typestr = PyDict_GetItemWithError(interface, names.typestr);
    PyObject *data = PyDict_GetItemWithError(interface, names.data);
    PyObject *mask = PyDict_GetItemWithError(interface, names.mask);
    PyObject *stream = PyDict_GetItemWithError(interface, names.stream);
    int64_t address, owner;
    if (!typestr || !PyUnicode_CheckExact(typestr)) return false;
    if (PyUnicode_Compare(typestr, g->identity) != 0) return false;
    if (mask && mask != Py_None) return false;
    if (stream && stream != Py_None && !(exact_int64(stream, &owner) && precedes(owner, launch))) {
        return false;
    }
    if (!data || !PyTuple_CheckExact(data) || PyTuple_Size(data) != 2) return false;
    if (!exact_int64(PyTuple_GetItem(data, 0), &address)) return false;
    leaf->data = (char *)(uintptr_t)address;
    int32_t flags = PyTuple_GetItem(data, 1) == Py_False ? NPY_ARRAY_WRITEABLE : 0;
    PyObject *shape = PyDict_GetItemWithError(interface, names.shape);
    PyObject *strides = PyDict_GetItemWithError(interface, names.strides);
    return extents_match(g, shape, strides, flags, launch, leaf);
}

bool cuda_interface_matches(const ArrayGuard *g, PyObject *argument, Launch *launch, Leaf *leaf) {
    PyObject *interface = PyObject_GetAttr(argument, names.cuda_array_interface);
    bool matches =
        interface && PyDict_CheckExact(interface) && interface_matches(g, interface, launch, leaf);
    Py_XDECREF(interface);
    return matches;
}

/* ---- arrays of known packages, by attributes ---- */

/* The object at the end of a path of attribute names, a new reference; None in a path is a call. */
static PyObject *follow(PyObject *from, PyObject *path) {
    PyObject *here = Py_NewRef(from);
    for (Py_ssize_t i = 0; here && i < PyTuple_Size(path); i++) {
        PyObject *step = PyTuple_GetItem(path, i), *before = here;
        here = step == Py_None ? PyObject_CallNoArgs(before) : PyObject_GetAttr(before, step);
        Py_DECREF(before);
    }
    return here;
}

static bool leads_to(PyObject *from, PyObject *path, const PyObject *expected) {
    PyObject *found = follow(from, path);
    Py_XDECREF(found);
    return found == expected;
}

static bool leads_to_int(PyObject *from, PyObject *path, int64_t *value) {
    PyObject *found = follow(from, path);
    bool is_int = found && exact_int64(found, value);
    Py_XDECREF(found);
    return is_int;
}

enum { PATH_ADDRESS, PATH_SHAPE, PATH_STREAM, CONDITIONS }; /* of the guard's identity */

/* Whether the current stream of the package, which is read once a launch, precedes the launch. */
static bool stream_precedes(const ArrayGuard *g, Launch *launch) {
    int64_t owner;
    if (launch->ordered_after == g->stream_source || g->stream_source == Py_None) return true;
    if (!leads_to_int(g->stream_source, PyTuple_GetItem(g->identity, PATH_STREAM), &owner))
        return false;
    if (!precedes(owner, launch)) return false;
    launch->ordered_after = g->stream_source;
    return true;
}

/* The identity has the paths to the address, the shape, and a stream handle from the stream source;
 * then pairs of a path and the object that it must lead to. */
bool attributes_match(const ArrayGuard *g, PyObject *argument, Launch *launch, Leaf *leaf) {
    PyObject *paths = g->identity;
    int64_t address;
    if (!stream_precedes(g, launch)) return false;
    for (Py_ssize_t i = CONDITIONS; i + 1 < PyTuple_Size(paths); i += 2) {
        if (!leads_to(argument, PyTuple_GetItem(paths, i), PyTuple_GetItem(paths, i + 1)))
            return false;
    }
    if (!leads_to_int(argument, PyTuple_GetItem(paths, PATH_ADDRESS), &address)) return false;
    leaf->data = (char *)(uintptr_t)address;
    PyObject *shape = follow(argument, PyTuple_GetItem(paths, PATH_SHAPE));
    bool matches = extents_match(g, shape, NULL, NPY_ARRAY_WRITEABLE, launch, leaf);
    Py_XDECREF(shape);
    return matches;
}
