/* The extension module `_dispatch`: its types, functions and constants. */
#define IMPORTS_NUMPY_API
#include "dispatch.h"

PyTypeObject *dispatch_table_base_type, *launch_configuration_type, *table_reference_type;
PyTypeObject *configured_base_type, *kernel_base_type, *device_array_base_type;
PyTypeObject *staging_buffer_type, *launch_sequence_type, *tuned_base_type;
InternedNames names;

/* ---- for all files ---- */

/* Clears an exception that a guard raised: the slow path reads the arguments again and raises it.
 * False for one that is no error, as KeyboardInterrupt. */
bool clear_ordinary_error(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_Clear();
    return true;
}

void free_instance(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* ---- the module ---- */

static bool intern_names(void) {
    const struct {
        PyObject **name;
        const char *text;
    } all[] = {
        {&names.cuda_array_interface, "__cuda_array_interface__"},
        {&names.data, "data"},
        {&names.shape, "shape"},
        {&names.strides, "strides"},
        {&names.typestr, "typestr"},
        {&names.mask, "mask"},
        {&names.stream, "stream"},
        {&names.used_on, "used_on"},
        {&names.launch_slow, "_launch_slow"},
        {&names.own, "_own"},
        {&names.configured_as, "_configured_as"},
        {&names.requires_grad, "requires_grad"},
        {&names.is_conj, "is_conj"},
        {&names.is_neg, "is_neg"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i].name = PyUnicode_InternFromString(all[i].text);
        if (!*all[i].name) return false;
    }
    return true;
}

static bool add_types(PyObject *module) {
    const struct {
        PyTypeObject **type;
        PyType_Spec *spec;
    } all[] = {
        {&dispatch_table_base_type, &dispatch_table_base_spec},
        {&launch_configuration_type, &launch_configuration_spec},
        {&table_reference_type, &table_reference_spec},
        {&configured_base_type, &configured_base_spec},
        {&kernel_base_type, &kernel_base_spec},
        {&device_array_base_type, &device_array_base_spec},
        {&staging_buffer_type, &staging_buffer_spec},
        {&launch_sequence_type, &launch_sequence_spec},
        {&tuned_base_type, &tuned_base_spec},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i].type = (PyTypeObject *)PyType_FromModuleAndSpec(module, all[i].spec, NULL);
        if (!*all[i].type || PyModule_AddType(module, *all[i].type) < 0) return false;
    }
    return true;
}

static bool add_constants(PyObject *module) {
    const struct {
        const char *name;
        long value;
    } all[] = {
        {"INTERFACE", 7}, /* as in extension.py */
        {"MAX_AXES", MAX_AXES},
        {"MAX_ENTRIES", MAX_ENTRIES},
        {"INDEX32_LIMIT", INDEX32_LIMIT},
        {"BLOCKS32_LIMIT", BLOCKS32_LIMIT},
        {"HEADER_SIZE", sizeof(LaunchHeader)},
        {"HEADER_BLOCK_OFFSET", offsetof(LaunchHeader, block)},
        {"HEADER_SHARED_BYTES_OFFSET", offsetof(LaunchHeader, shared_bytes)},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (PyModule_AddIntConstant(module, all[i].name, all[i].value) < 0) return false;
    }
    return true;
}

/* State is static: one interpreter of a process loads the module, as it loads NumPy. */
static int execute(PyObject *module) {
    if (names.own) {
        PyErr_SetString(PyExc_ImportError, "_dispatch is loaded once in a process");
        return -1;
    }
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    return intern_names() && add_types(module) && add_constants(module) ? 0 : -1;
}

static PyMethodDef functions[] = {
    {"suspend", suspend_dispatch, METH_NOARGS, "Let every launch take the slow path."},
    {"resume", resume_dispatch, METH_NOARGS, "End one `suspend`."},
    {"recent_kernels", recent_kernels, METH_NOARGS,
     "Return the names of the kernels that were started on a device last, the latest at the end."},
    {NULL, NULL, 0, NULL},
};
/* One build serves all versions with a GIL, and 3.11 and 3.12 reject slots that they do not know.
 * Dispatch tables have no locks: extension.py does not import this while the GIL is disabled. */
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_USED},
#endif
    {0, NULL},
};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,  .m_name = "_dispatch",   .m_doc = "The fast path of launches.",
    .m_methods = functions, .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__dispatch(void) { return PyModuleDef_Init(&definition); }
