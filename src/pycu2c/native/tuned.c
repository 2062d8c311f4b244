/* The base of the launch of a tuned kernel: a call looks the launch up by the arguments on which it
 * depends, and otherwise calls the Python method `_launch_slow`. */
#include "dispatch.h"

typedef struct {
    PyObject_HEAD
    PyObject *positions;  /* a tuple: of the arguments in the key */
    PyObject *configured; /* a dict: key -> a tuple of configured kernels */
} TunedBase;

/* The part of a key for an argument, a new reference: the shape of an array, or the object. */
static PyObject *key_part(PyObject *argument) {
    if (PyLong_CheckExact(argument)) return Py_NewRef(argument);
    PyObject *shape = PyObject_GetAttr(argument, names.shape);
    if (!shape) PyErr_Clear();
    if (shape && PyObject_IsTrue(shape) == 1) return shape;
    Py_XDECREF(shape); /* a NumPy scalar has the shape () */
    return PyErr_Occurred() ? NULL : Py_NewRef(argument);
}

/* The configured kernels of a call, a new reference; NULL if there are none. */
static PyObject *find_configured(TunedBase *self, PyObject *args) {
    PyObject *positions = self->positions, *configured = self->configured;
    if (!positions || !configured || !PyTuple_CheckExact(positions)) return NULL;
    if (!PyDict_CheckExact(configured)) return NULL;
    Py_ssize_t count = PyTuple_Size(positions);
    PyObject *key = PyTuple_New(count), *found = NULL;
    Py_INCREF(positions); /* an attribute may run any code */
    Py_INCREF(configured);
    for (Py_ssize_t i = 0; key && i < count; i++) {
        Py_ssize_t position = PyLong_AsSsize_t(PyTuple_GetItem(positions, i));
        bool valid = position >= 0 && position < PyTuple_Size(args);
        PyObject *part = valid ? key_part(PyTuple_GetItem(args, position)) : NULL;
        if (part) PyTuple_SetItem(key, i, part);
        else Py_CLEAR(key);
    }
    if (key) found = Py_XNewRef(PyDict_GetItemWithError(configured, key));
    Py_XDECREF(key);
    Py_DECREF(positions);
    Py_DECREF(configured);
    if (found && !PyTuple_CheckExact(found)) Py_CLEAR(found);
    return found;
}

static PyObject *tuned_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    bool named = kwargs && PyDict_Size(kwargs);
    PyObject *found = named ? NULL : find_configured((TunedBase *)object, args);
    if (PyErr_Occurred() && !clear_ordinary_error()) return NULL;
    DispatchResult result = MISSED;
    for (Py_ssize_t i = 0; found && result == MISSED && i < PyTuple_Size(found); i++) {
        result = configured_dispatch(PyTuple_GetItem(found, i), args);
    }
    Py_XDECREF(found);
    if (result == LAUNCHED) Py_RETURN_NONE;
    if (result == FAILED) return NULL;
    PyObject *slow = PyObject_GetAttr(object, names.launch_slow);
    PyObject *done = slow ? PyObject_Call(slow, args, kwargs) : NULL;
    Py_XDECREF(slow);
    return done;
}

static int tuned_traverse(PyObject *object, visitproc visit, void *arg) {
    TunedBase *self = (TunedBase *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->positions);
    Py_VISIT(self->configured);
    return 0;
}

static int tuned_clear(PyObject *object) {
    TunedBase *self = (TunedBase *)object;
    Py_CLEAR(self->positions);
    Py_CLEAR(self->configured);
    return 0;
}

static void tuned_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    tuned_clear(object);
    free_instance(object);
}

static PyMemberDef tuned_members[] = {
    {"_positions", T_OBJECT_EX, offsetof(TunedBase, positions), 0, NULL},
    {"_configured", T_OBJECT_EX, offsetof(TunedBase, configured), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot tuned_slots[] = {
    {Py_tp_call, tuned_call},
    {Py_tp_dealloc, tuned_dealloc},
    {Py_tp_traverse, tuned_traverse},
    {Py_tp_clear, tuned_clear},
    {Py_tp_members, tuned_members},
    {Py_tp_doc, "The launch of a tuned kernel: a call launches one of `_configured`, by the values "
                "and shapes of the arguments at `_positions`."},
    {0, NULL},
};
PyType_Spec tuned_base_spec = {
    "pycu2c.native._dispatch.TunedBase",
    sizeof(TunedBase),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    tuned_slots,
};
