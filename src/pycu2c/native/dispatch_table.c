/* The dispatch table of a kernel: tries its entries for a launch, the one that ran last first. */
#include "dispatch.h"

#include <string.h>

/* ---- state of the process ---- */

static int suspensions; /* threads that capture a graph: their launches are recorded by Python */

PyObject *suspend_dispatch(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    suspensions++;
    Py_RETURN_NONE;
}

PyObject *resume_dispatch(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    suspensions--;
    Py_RETURN_NONE;
}

/* Names of the latest kernels that were started on a device, the last one at the end. A later call
 * of the driver reports a fault without the kernel that caused it. */
enum { MAX_RECENT = 4 };
static PyObject *recent[MAX_RECENT];

static void record_recent(PyObject *kernel) {
    if (recent[MAX_RECENT - 1] == kernel) return;
    PyObject *oldest = recent[0];
    memmove(&recent[0], &recent[1], (MAX_RECENT - 1) * sizeof *recent);
    recent[MAX_RECENT - 1] = Py_NewRef(kernel);
    Py_XDECREF(oldest);
}

PyObject *recent_kernels(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    PyObject *found = PyList_New(0);
    for (int i = 0; found && i < MAX_RECENT; i++) {
        if (recent[i] && PyList_Append(found, recent[i]) < 0) Py_CLEAR(found);
    }
    return found;
}

/* ---- launches ---- */

/* Calls Python, which raises the error of an exit code; false if it raised. */
static bool report_code(const DispatchEntry *entry, int code, const Launch *launch) {
    const char *header = (const char *)&launch->header;
    PyObject *bytes = PyBytes_FromStringAndSize(header, sizeof launch->header);
    PyObject *number = PyLong_FromLong(code), *done = NULL;
    if (bytes && number) done = PyObject_CallFunctionObjArgs(entry->finished, number, bytes, NULL);
    Py_XDECREF(bytes);
    Py_XDECREF(number);
    Py_XDECREF(done);
    return done;
}

/* The object that a name is bound to, a new reference; NULL without an error if there is none. */
static PyObject *bound_object(PyObject *owner, PyObject *name) {
    if (PyDict_CheckExact(owner)) return Py_XNewRef(PyDict_GetItemWithError(owner, name));
    PyObject *found = PyObject_GetAttr(owner, name);
    if (!found) PyErr_Clear();
    return found;
}

/* Whether the names that the compiled kernel has as constants are bound to the same objects. */
static bool names_unchanged(const DispatchTableBase *table) {
    PyObject *compared = table->compared;
    if (!compared || !PyTuple_CheckExact(compared)) return true;
    bool same = true;
    Py_INCREF(compared); /* an attribute may run any code */
    for (Py_ssize_t i = 0; same && i + 2 < PyTuple_Size(compared); i += 3) {
        PyObject *found =
            bound_object(PyTuple_GetItem(compared, i), PyTuple_GetItem(compared, i + 1));
        same = found == PyTuple_GetItem(compared, i + 2);
        Py_XDECREF(found);
    }
    Py_DECREF(compared);
    return same;
}

static DispatchResult dispatch(
    DispatchTableBase *table, const LaunchConfiguration *configuration, PyObject *arguments
) {
    if (suspensions || !names_unchanged(table)) return MISSED;
    for (int tried = 0, i = table->last; tried < table->count; tried++, i++) {
        if (i >= table->count) i = 0;
        DispatchEntry *entry = table->entries[i];
        int code = 0;
        Launch launch = {.configuration = configuration, .header = configuration->header};
        if (!launch_entry(entry, &launch, arguments, &code)) {
            if (PyErr_Occurred() && !clear_ordinary_error()) return FAILED;
            continue;
        }
        table->last = i;
        table->latest = entry->signature;
        if (entry->get_context) record_recent(table->kernel);
        bool failed = code && !report_code(entry, code, &launch);
        entry->busy = false;
        return failed ? FAILED : LAUNCHED;
    }
    return MISSED;
}

/* ---- calls with names and defaults ---- */

/* The keyword argument or default of a parameter, borrowed; NULL if there is none. */
static PyObject *value_by_name(
    DispatchTableBase *table, PyObject *name, PyObject *kwargs, Py_ssize_t *used
) {
    PyObject *value = kwargs ? PyDict_GetItemWithError(kwargs, name) : NULL;
    if (value) ++*used;
    return value ? value : PyDict_GetItemWithError(table->defaults, name);
}

/* A tuple with a value for each parameter, a new reference; NULL if the call is an error, which the
 * slow path raises. */
static PyObject *bind_arguments(DispatchTableBase *table, PyObject *args, PyObject *kwargs) {
    Py_ssize_t positional = PyTuple_Size(args), count = PyTuple_Size(table->names), used = 0;
    Py_ssize_t named = kwargs ? PyDict_Size(kwargs) : 0;
    if (positional == count && positional <= table->positional && !named) return Py_NewRef(args);
    PyObject *values = positional > table->positional ? NULL : PyTuple_New(count);
    for (Py_ssize_t i = 0; values && i < count; i++) {
        PyObject *value =
            i < positional ? PyTuple_GetItem(args, i)
                      : value_by_name(table, PyTuple_GetItem(table->names, i), kwargs, &used);
        if (value) {
            PyTuple_SetItem(values, i, Py_NewRef(value));
        } else {
            Py_CLEAR(values);
        }
    }
    if (used != named) Py_CLEAR(values); /* a name is unknown or used twice */
    return values;
}

DispatchResult dispatch_call(
    DispatchTableBase *table, const LaunchConfiguration *configuration, PyObject *args,
    PyObject *kwargs
) {
    if (!table->count) return MISSED;
    Py_INCREF((PyObject *)table); /* another thread may replace the kernel's table */
    PyObject *values = bind_arguments(table, args, kwargs);
    DispatchResult result = values ? dispatch(table, configuration, values) : MISSED;
    if (!values && PyErr_Occurred() && !clear_ordinary_error()) result = FAILED;
    Py_XDECREF(values);
    Py_DECREF((PyObject *)table);
    return result;
}

/* ---- DispatchTableBase(kernel, names, defaults, positional) ---- */

static int table_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    DispatchTableBase *self = (DispatchTableBase *)object;
    PyObject *kernel, *parameters, *defaults;
    (void)kwargs;
    if (!PyArg_ParseTuple(
            args, "UO!O!n:DispatchTableBase", &kernel, &PyTuple_Type, &parameters, &PyDict_Type,
            &defaults, &self->positional
        )) {
        return -1;
    }
    PyObject *before[] = {self->kernel, self->names, self->defaults};
    self->kernel = Py_NewRef(kernel);
    self->names = Py_NewRef(parameters);
    self->defaults = Py_NewRef(defaults);
    for (int i = 0; i < 3; i++) Py_XDECREF(before[i]);
    return 0;
}

static PyObject *table_add(PyObject *object, PyObject *description) {
    DispatchTableBase *self = (DispatchTableBase *)object;
    if (self->count == MAX_ENTRIES) Py_RETURN_FALSE;
    DispatchEntry *entry = entry_from_python(description);
    if (!entry && PyErr_Occurred()) return NULL;
    if (!entry) Py_RETURN_FALSE;
    if (self->count == MAX_ENTRIES) { /* another thread has added one meanwhile */
        entry_free(entry);
        Py_RETURN_FALSE;
    }
    self->entries[self->count++] = entry;
    Py_RETURN_TRUE;
}

static PyObject *table_launch(PyObject *object, PyObject *args) {
    DispatchTableBase *self = (DispatchTableBase *)object;
    PyObject *configuration, *arguments;
    if (!PyArg_ParseTuple(
            args, "O!O!:launch", launch_configuration_type, &configuration, &PyTuple_Type,
            &arguments
        )) {
        return NULL;
    }
    DispatchResult result = dispatch(self, (LaunchConfiguration *)configuration, arguments);
    return result == FAILED ? NULL : PyBool_FromLong(result == LAUNCHED);
}

static PyObject *table_take_latest(PyObject *object, PyObject *unused) {
    DispatchTableBase *self = (DispatchTableBase *)object;
    PyObject *latest = self->latest ? self->latest : Py_None;
    (void)unused;
    self->latest = NULL;
    return Py_NewRef(latest);
}

static int table_traverse(PyObject *object, visitproc visit, void *arg) {
    DispatchTableBase *self = (DispatchTableBase *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->kernel);
    Py_VISIT(self->names);
    Py_VISIT(self->defaults);
    Py_VISIT(self->compared);
    for (int i = 0; i < self->count; i++) {
        int stop = entry_traverse(self->entries[i], visit, arg);
        if (stop) return stop;
    }
    return 0;
}

static int table_clear(PyObject *object) {
    DispatchTableBase *self = (DispatchTableBase *)object;
    self->latest = NULL;
    self->last = 0;
    while (self->count) entry_free(self->entries[--self->count]);
    Py_CLEAR(self->kernel);
    Py_CLEAR(self->names);
    Py_CLEAR(self->defaults);
    Py_CLEAR(self->compared);
    return 0;
}

static void table_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    table_clear(object);
    free_instance(object);
}

static PyMethodDef table_methods[] = {
    {"add", table_add, METH_O, "Add a DispatchEntry; return whether there was room for it."},
    {"launch", table_launch, METH_VARARGS,
     "Launch with a LaunchConfiguration and a tuple of arguments; return whether an entry did it."},
    {"take_latest", table_take_latest, METH_NOARGS,
     "Return the signature of the entry that ran last, once; else None."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef table_members[] = {
    {"compared", T_OBJECT, offsetof(DispatchTableBase, compared), 0,
     "A tuple with the owner, the name and the object of each name whose object may not change."},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot table_slots[] = {
    {Py_tp_init, table_init},
    {Py_tp_members, table_members},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_traverse, table_traverse},
    {Py_tp_clear, table_clear},
    {Py_tp_methods, table_methods},
    {Py_tp_doc,
     "DispatchTableBase(kernel, names, defaults, positional)\n\nEntries for launches of a "
     "kernel, created from launches that have run."},
    {0, NULL},
};
PyType_Spec dispatch_table_base_spec = {
    "pycu2c.native._dispatch.DispatchTableBase",
    sizeof(DispatchTableBase),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    table_slots,
};
