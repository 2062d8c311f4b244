/* DeviceArrayBase(address, device, shape, strides, dtype, writeable, c_contiguous): the base of
 * device arrays. Its attributes are fixed, so a launch reads them without checks. */
#include "dispatch.h"

#include <string.h>

static int device_array_clear(PyObject *object) {
    DeviceArrayBase *self = (DeviceArrayBase *)object;
    Py_CLEAR(self->dtype);
    Py_CLEAR(self->shape);
    Py_CLEAR(self->strides);
    return 0;
}

static bool read_numbers(PyObject *tuple, npy_intp *numbers, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        numbers[i] = (npy_intp)PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
        if (numbers[i] == -1 && PyErr_Occurred()) return false;
    }
    return true;
}

static int read_address(PyObject *object, void *address) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return 0;
    uint64_t value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    memcpy(address, &value, sizeof value);
    return !(value == (uint64_t)-1 && PyErr_Occurred());
}

static PyObject *device_array_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs; /* of __init__ of a subclass */
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    DeviceArrayBase *self = (DeviceArrayBase *)allocate(type, 0);
    if (self) self->ndim = -1; /* no guard matches before __init__ */
    return (PyObject *)self;
}

static int device_array_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    DeviceArrayBase *self = (DeviceArrayBase *)object;
    PyObject *shape, *strides, *dtype;
    uint64_t address;
    int device, writeable, c_contiguous;
    (void)kwargs;
    if (!PyArg_ParseTuple(
            args, "O&iO!O!Opp:DeviceArrayBase", read_address, &address, &device, &PyTuple_Type,
            &shape, &PyTuple_Type, &strides, &dtype, &writeable, &c_contiguous
        )) {
        return -1;
    }
    Py_ssize_t ndim = PyTuple_Size(shape);
    if (PyTuple_Size(strides) != ndim || self->ndim >= 0) {
        PyErr_SetString(PyExc_ValueError, "an array is made once, with a stride for each axis");
        return -1;
    }
    npy_intp *extents = PyMem_Malloc((size_t)(2 * ndim + 1) * sizeof *extents);
    if (!extents) return PyErr_NoMemory(), -1;
    if (!read_numbers(shape, extents, ndim) || !read_numbers(strides, extents + ndim, ndim)) {
        return PyMem_Free(extents), -1;
    }
    self->extents = extents;
    self->address = address;
    self->device = device;
    self->writeable = (char)writeable;
    self->c_contiguous = (char)c_contiguous;
    self->dtype = Py_NewRef(dtype);
    self->shape = Py_NewRef(shape);
    self->strides = Py_NewRef(strides);
    self->ndim = (int32_t)ndim;
    return 0;
}

static int device_array_traverse(PyObject *object, visitproc visit, void *arg) {
    DeviceArrayBase *self = (DeviceArrayBase *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dtype);
    Py_VISIT(self->shape);
    Py_VISIT(self->strides);
    return 0;
}

static void device_array_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    PyMem_Free(((DeviceArrayBase *)object)->extents);
    device_array_clear(object);
    free_instance(object);
}

/* Whoever gets the address may write the memory. */
static PyObject *device_array_address(PyObject *object, void *closure) {
    DeviceArrayBase *self = (DeviceArrayBase *)object;
    (void)closure;
    self->unwritten = false;
    return PyLong_FromUnsignedLongLong(self->address);
}

static PyGetSetDef device_array_attributes[] = {
    {"address", device_array_address, NULL, "Of the first element.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef device_array_members[] = {
    {"device", T_INT, offsetof(DeviceArrayBase, device), READONLY,
     "The ordinal of the GPU that has the memory; -1 for memory of the host."},
    {"ndim", T_INT, offsetof(DeviceArrayBase, ndim), READONLY, "The number of axes."},
    {"dtype", T_OBJECT_EX, offsetof(DeviceArrayBase, dtype), READONLY, "Of the elements."},
    {"shape", T_OBJECT_EX, offsetof(DeviceArrayBase, shape), READONLY, "In elements."},
    {"strides", T_OBJECT_EX, offsetof(DeviceArrayBase, strides), READONLY, "In bytes."},
    {"writeable", T_BOOL, offsetof(DeviceArrayBase, writeable), READONLY,
     "Whether kernels and assignments may write."},
    {"_c_contiguous", T_BOOL, offsetof(DeviceArrayBase, c_contiguous), READONLY, NULL},
    {"_unwritten", T_BOOL, offsetof(DeviceArrayBase, unwritten), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot device_array_slots[] = {
    {Py_tp_new, device_array_new},
    {Py_tp_init, device_array_init},
    {Py_tp_dealloc, device_array_dealloc},
    {Py_tp_traverse, device_array_traverse},
    {Py_tp_clear, device_array_clear},
    {Py_tp_members, device_array_members},
    {Py_tp_getset, device_array_attributes},
    {Py_tp_doc, "DeviceArrayBase(address, device, shape, strides, dtype, writeable, c_contiguous)"
                "\n\nThe attributes of an array that launches read."},
    {0, NULL},
};
PyType_Spec device_array_base_spec = {
    "pycu2c.native._dispatch.DeviceArrayBase",           sizeof(DeviceArrayBase), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, device_array_slots,
};
