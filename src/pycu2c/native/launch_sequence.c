/* LaunchSequence(launches): launches on the CPU that run one after the other without the GIL, as a
 * graph has them. A launch is a tuple of two addresses, start and kernel, the packed arguments as
 * bytes, and the number of blocks. */
#include "dispatch.h"

typedef struct {
    CpuStart start;
    void *kernel;
    const char *arguments;
    long long blocks;
} SequenceLaunch;

typedef struct {
    PyObject_HEAD
    PyObject *launches; /* a tuple; it keeps the packed arguments alive */
    SequenceLaunch *steps;
} LaunchSequence;

static bool read_step(PyObject *from, SequenceLaunch *step) {
    unsigned long long start, kernel;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(from, "KKy#L", &start, &kernel, &step->arguments, &size, &step->blocks)) {
        return false;
    }
    step->start = (CpuStart)(uintptr_t)start;
    step->kernel = (void *)(uintptr_t)kernel;
    return true;
}

static PyObject *sequence_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *launches;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!:LaunchSequence", &PyTuple_Type, &launches)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    LaunchSequence *self = (LaunchSequence *)allocate(type, 0);
    if (!self) return NULL;
    Py_ssize_t count = PyTuple_Size(launches);
    self->launches = Py_NewRef(launches);
    self->steps = PyMem_Calloc((size_t)count + 1, sizeof *self->steps);
    bool is_complete = self->steps || PyErr_NoMemory();
    for (Py_ssize_t i = 0; is_complete && i < count; i++) {
        is_complete = read_step(PyTuple_GetItem(launches, i), &self->steps[i]);
    }
    if (!is_complete) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *sequence_run(PyObject *object, PyObject *unused) {
    LaunchSequence *self = (LaunchSequence *)object;
    Py_ssize_t count = PyTuple_Size(self->launches), i = 0;
    int code = 0;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    while (i < count && !code) {
        const SequenceLaunch *step = &self->steps[i++];
        code = step->start(step->kernel, step->arguments, step->blocks);
    }
    Py_END_ALLOW_THREADS
    if (!code) Py_RETURN_NONE;
    return Py_BuildValue("ni", i - 1, code);
}

static void sequence_dealloc(PyObject *object) {
    LaunchSequence *self = (LaunchSequence *)object;
    PyMem_Free(self->steps);
    Py_XDECREF(self->launches);
    free_instance(object);
}

static PyMethodDef sequence_methods[] = {
    {"run", sequence_run, METH_NOARGS,
     "Run all launches; return None, or the index of the one that ended early and its code."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot sequence_slots[] = {
    {Py_tp_new, sequence_new},
    {Py_tp_dealloc, sequence_dealloc},
    {Py_tp_methods, sequence_methods},
    {Py_tp_doc,
     "LaunchSequence(launches)\n\nLaunches on the CPU in order: tuples of the addresses of "
     "start and kernel, packed arguments, and blocks."},
    {0, NULL},
};
PyType_Spec launch_sequence_spec = {
    "pycu2c.native._dispatch.LaunchSequence",
    sizeof(LaunchSequence),
    0,
    Py_TPFLAGS_DEFAULT,
    sequence_slots,
};
