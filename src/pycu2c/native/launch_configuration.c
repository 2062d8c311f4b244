/* The launch configuration of a configured kernel, and the reference to its dispatch table. */
#include "dispatch.h"

/* ---- LaunchConfiguration(grid, block, shared_bytes, stream, handle, ordered) ---- */

static PyObject *configuration_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    LaunchHeader h;
    PyObject *stream;
    unsigned long long handle;
    long long shared_bytes;
    int ordered;
    (void)kwargs;
    if (!PyArg_ParseTuple(
            args, "(iii)(iii)LOKp:LaunchConfiguration", &h.grid[0], &h.grid[1], &h.grid[2],
            &h.block[0], &h.block[1], &h.block[2], &shared_bytes, &stream, &handle, &ordered
        )) {
        return NULL;
    }
    h.shared_bytes = shared_bytes;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    LaunchConfiguration *self = (LaunchConfiguration *)allocate(type, 0);
    if (!self) return NULL;
    self->header = h;
    self->stream = (uintptr_t)handle;
    self->ordered = ordered;
    self->stream_object = Py_NewRef(stream);
    return (PyObject *)self;
}

static int configuration_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((LaunchConfiguration *)object)->stream_object);
    return 0;
}

static int configuration_clear(PyObject *object) {
    Py_CLEAR(((LaunchConfiguration *)object)->stream_object);
    return 0;
}

static void configuration_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    configuration_clear(object);
    free_instance(object);
}

static PyType_Slot configuration_slots[] = {
    {Py_tp_new, configuration_new},
    {Py_tp_dealloc, configuration_dealloc},
    {Py_tp_traverse, configuration_traverse},
    {Py_tp_clear, configuration_clear},
    {Py_tp_doc,
     "LaunchConfiguration(grid, block, shared_bytes, stream, handle, ordered)\n\nA grid or "
     "block of zeros is inferred from the arguments. `handle` is the stream's CUstream; "
     "`ordered`: it and the default stream synchronize with each other."},
    {0, NULL},
};
PyType_Spec launch_configuration_spec = {
    "pycu2c.native._dispatch.LaunchConfiguration",
    sizeof(LaunchConfiguration),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    configuration_slots,
};

/* ---- TableReference: `table` is a dispatch table or None ---- */

static PyObject *reference_get(PyObject *object, void *closure) {
    PyObject *table = ((TableReference *)object)->table;
    (void)closure;
    return Py_NewRef(table ? table : Py_None);
}

static int reference_set(PyObject *object, PyObject *value, void *closure) {
    TableReference *self = (TableReference *)object;
    PyObject *before = self->table;
    (void)closure;
    if (value && value != Py_None && !PyObject_TypeCheck(value, dispatch_table_base_type)) {
        PyErr_SetString(PyExc_TypeError, "table is a dispatch table or None");
        return -1;
    }
    self->table = value && value != Py_None ? Py_NewRef(value) : NULL;
    Py_XDECREF(before);
    return 0;
}

static int reference_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((TableReference *)object)->table);
    return 0;
}

static int reference_clear(PyObject *object) {
    Py_CLEAR(((TableReference *)object)->table);
    return 0;
}

static void reference_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    reference_clear(object);
    free_instance(object);
}

static PyGetSetDef reference_attributes[] = {
    {"table", reference_get, reference_set, "A dispatch table or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot reference_slots[] = {
    {Py_tp_dealloc, reference_dealloc},
    {Py_tp_traverse, reference_traverse},
    {Py_tp_clear, reference_clear},
    {Py_tp_getset, reference_attributes},
    {Py_tp_doc, "The dispatch table that the configurations of a kernel share."},
    {0, NULL},
};
PyType_Spec table_reference_spec = {
    "pycu2c.native._dispatch.TableReference",
    sizeof(TableReference),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    reference_slots,
};
