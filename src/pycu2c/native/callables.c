/* The bases of a kernel and of a configured kernel: a call tries the dispatch table of the kernel
 * and otherwise calls the Python method `_launch_slow`. */
#include "dispatch.h"

static PyMethodDef generic_methods[] = {
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, "Kernels are generic in Python."},
    {NULL, NULL, 0, NULL},
};

/* ---- ConfiguredBase(tables, configuration) ---- */

typedef struct {
    PyObject_HEAD
    TableReference *tables;
    LaunchConfiguration *configuration;
} ConfiguredBase;

static int configured_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    ConfiguredBase *self = (ConfiguredBase *)object;
    PyObject *tables, *configuration;
    (void)kwargs;
    if (!PyArg_ParseTuple(
            args, "O!O!:ConfiguredBase", table_reference_type, &tables, launch_configuration_type,
            &configuration
        )) {
        return -1;
    }
    PyObject *before[] = {(PyObject *)self->tables, (PyObject *)self->configuration};
    self->tables = (TableReference *)Py_NewRef(tables);
    self->configuration = (LaunchConfiguration *)Py_NewRef(configuration);
    for (int i = 0; i < 2; i++) Py_XDECREF(before[i]);
    return 0;
}

static DispatchResult try_table(PyObject *object, PyObject *args, PyObject *kwargs) {
    ConfiguredBase *self = (ConfiguredBase *)object;
    PyObject *table = self->tables ? self->tables->table : NULL; /* NULL before __init__, too */
    if (!table) return MISSED;
    return dispatch_call((DispatchTableBase *)table, self->configuration, args, kwargs);
}

DispatchResult configured_dispatch(PyObject *object, PyObject *args) {
    return PyObject_TypeCheck(object, configured_base_type) ? try_table(object, args, NULL) : MISSED;
}

static PyObject *configured_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    DispatchResult result = try_table(object, args, kwargs);
    if (result == LAUNCHED) Py_RETURN_NONE;
    if (result == FAILED) return NULL;
    PyObject *slow = PyObject_GetAttr(object, names.launch_slow);
    PyObject *done = slow ? PyObject_Call(slow, args, kwargs) : NULL;
    Py_XDECREF(slow);
    return done;
}

static int configured_traverse(PyObject *object, visitproc visit, void *arg) {
    ConfiguredBase *self = (ConfiguredBase *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->tables);
    Py_VISIT((PyObject *)self->configuration);
    return 0;
}

static int configured_clear(PyObject *object) {
    ConfiguredBase *self = (ConfiguredBase *)object;
    Py_CLEAR(self->tables);
    Py_CLEAR(self->configuration);
    return 0;
}

static void configured_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    configured_clear(object);
    free_instance(object);
}

static PyMemberDef configured_members[] = {
    {"_launches", T_OBJECT_EX, offsetof(ConfiguredBase, tables), READONLY, NULL},
    {"_configuration", T_OBJECT_EX, offsetof(ConfiguredBase, configuration), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot configured_slots[] = {
    {Py_tp_init, configured_init},
    {Py_tp_call, configured_call},
    {Py_tp_dealloc, configured_dealloc},
    {Py_tp_traverse, configured_traverse},
    {Py_tp_clear, configured_clear},
    {Py_tp_members, configured_members},
    {Py_tp_methods, generic_methods},
    {Py_tp_doc,
     "ConfiguredBase(tables, configuration)\n\nA call launches by the dispatch table, or "
     "calls `_launch_slow` with the same arguments."},
    {0, NULL},
};
PyType_Spec configured_base_spec = {
    "pycu2c.native._dispatch.ConfiguredBase",
    sizeof(ConfiguredBase),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    configured_slots,
};

/* ---- KernelBase ---- */

typedef struct {
    PyObject_HEAD
    PyObject *own;             /* the configuration of the decorator */
    PyObject *configured;      /* a dict: subscript -> configured kernel */
    PyObject *last_key, *last; /* of the last subscript */
} KernelBase;

/* kernel(...): with the grid and block of the decorator. */
static PyObject *kernel_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    PyObject *own = ((KernelBase *)object)->own;
    if (!own) return PyObject_GetAttr(object, names.own); /* raises AttributeError */
    Py_INCREF(own);
    PyObject *done = PyObject_TypeCheck(own, configured_base_type)
                         ? configured_call(own, args, kwargs)
                         : PyObject_Call(own, args, kwargs);
    Py_DECREF(own);
    return done;
}

/* Whether an extent has exact ints: 4.0 equals 4, and is an error. */
static bool is_exact_extent(PyObject *extent) {
    if (PyLong_CheckExact(extent)) return true;
    if (!PyTuple_CheckExact(extent)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(extent); i++) {
        if (!PyLong_CheckExact(PyTuple_GetItem(extent, i))) return false;
    }
    return true;
}

/* Whether keys with the same objects always give the same configured kernel. */
static bool is_cacheable(PyObject *key) {
    if (!PyTuple_CheckExact(key)) return false;
    Py_ssize_t count = PyTuple_Size(key);
    if (count < 2 || count > 4) return false;
    if (count > 3 && !PyLong_CheckExact(PyTuple_GetItem(key, 3))) return false;
    return is_exact_extent(PyTuple_GetItem(key, 0)) && is_exact_extent(PyTuple_GetItem(key, 1));
}

/* Whether two keys have the same objects; `other` may be NULL. */
static bool same_objects(PyObject *key, PyObject *other) {
    Py_ssize_t count = PyTuple_Size(key);
    if (!other || PyTuple_Size(other) != count) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (PyTuple_GetItem(key, i) != PyTuple_GetItem(other, i)) return false;
    }
    return true;
}

/* The configured kernel of a key, a new reference; NULL if there is none. */
static PyObject *lookup(KernelBase *self, PyObject *key) {
    PyObject *found = self->configured ? PyDict_GetItemWithError(self->configured, key) : NULL;
    if (!found || !PyObject_TypeCheck(found, configured_base_type)) return NULL;
    if (PyTuple_Size(key) > 2) { /* a stream of another package may equal a number */
        PyObject *stream = PyTuple_GetItem(key, 2);
        const LaunchConfiguration *configuration = ((ConfiguredBase *)found)->configuration;
        if (!configuration) return NULL; /* __init__ was not called */
        if (!PyLong_CheckExact(stream) && stream != configuration->stream_object) return NULL;
    }
    return Py_NewRef(found);
}

static void keep_last(KernelBase *self, PyObject *key, PyObject *found) {
    PyObject *before = self->last, *key_before = self->last_key;
    self->last = Py_NewRef(found);
    self->last_key = Py_NewRef(key);
    Py_XDECREF(before); /* may run any code */
    Py_XDECREF(key_before);
}

/* kernel[grid, block], and with a stream and a size of shared memory. A subscript with the same
 * objects as the last one needs no look-up. */
static PyObject *kernel_subscript(PyObject *object, PyObject *key) {
    KernelBase *self = (KernelBase *)object;
    bool cacheable = is_cacheable(key);
    if (cacheable && same_objects(key, self->last_key)) return Py_NewRef(self->last);
    PyObject *found = cacheable ? lookup(self, key) : NULL;
    if (!found && PyErr_Occurred() && !clear_ordinary_error()) return NULL;
    if (!found) found = PyObject_CallMethodObjArgs(object, names.configured_as, key, NULL);
    if (found && cacheable) keep_last(self, key, found);
    return found;
}

static int kernel_traverse(PyObject *object, visitproc visit, void *arg) {
    KernelBase *self = (KernelBase *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->own);
    Py_VISIT(self->configured);
    Py_VISIT(self->last_key);
    Py_VISIT(self->last);
    return 0;
}

static int kernel_clear(PyObject *object) {
    KernelBase *self = (KernelBase *)object;
    Py_CLEAR(self->own);
    Py_CLEAR(self->configured);
    Py_CLEAR(self->last_key);
    Py_CLEAR(self->last);
    return 0;
}

static void kernel_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    kernel_clear(object);
    free_instance(object);
}

static PyMemberDef kernel_members[] = {
    {"_own", T_OBJECT_EX, offsetof(KernelBase, own), 0, NULL},
    {"_configured", T_OBJECT_EX, offsetof(KernelBase, configured), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_call, kernel_call},
    {Py_mp_subscript, kernel_subscript},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_traverse, kernel_traverse},
    {Py_tp_clear, kernel_clear},
    {Py_tp_members, kernel_members},
    {Py_tp_methods, generic_methods},
    {Py_tp_doc, "A kernel: a call launches `_own`; a subscript is looked up in `_configured`, or "
                "made by `_configured_as`."},
    {0, NULL},
};
PyType_Spec kernel_base_spec = {
    "pycu2c.native._dispatch.KernelBase",
    sizeof(KernelBase),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    kernel_slots,
};
