/* Attributes of Python objects as C values. False: an exception is set. */
#include "attributes.h"

bool read_int64(PyObject *object, const char *name, int64_t *value) {
    PyObject *found = PyObject_GetAttrString(object, name);
    if (!found) return false;
    *value = PyLong_AsLongLong(found);
    Py_DECREF(found);
    return !(*value == -1 && PyErr_Occurred());
}

bool read_int32(PyObject *object, const char *name, int32_t *value) {
    int64_t wide;
    if (!read_int64(object, name, &wide)) return false;
    *value = (int32_t)wide;
    if (*value == wide) return true;
    PyErr_Format(PyExc_OverflowError, "%s does not fit in an int32", name);
    return false;
}

bool read_uint64(PyObject *object, const char *name, uint64_t *value) {
    PyObject *found = PyObject_GetAttrString(object, name);
    if (!found) return false;
    *value = PyLong_AsUnsignedLongLong(found);
    Py_DECREF(found);
    return !(*value == (uint64_t)-1 && PyErr_Occurred());
}

bool read_bool(PyObject *object, const char *name, bool *value) {
    PyObject *found = PyObject_GetAttrString(object, name);
    if (!found) return false;
    int truth = PyObject_IsTrue(found);
    Py_DECREF(found);
    *value = truth > 0;
    return truth >= 0;
}

/* A new reference, which the entry owns. */
bool read_object(PyObject *object, const char *name, PyObject **value) {
    *value = PyObject_GetAttrString(object, name);
    return *value;
}

/* A tuple of `count` integers. */
bool read_int64s(PyObject *object, const char *name, int64_t *values, Py_ssize_t count) {
    PyObject *found = PyObject_GetAttrString(object, name);
    bool valid = found && PyTuple_Size(found) == count;
    for (Py_ssize_t i = 0; valid && i < count; i++) {
        values[i] = PyLong_AsLongLong(PyTuple_GetItem(found, i));
        valid = !(values[i] == -1 && PyErr_Occurred());
    }
    if (!valid && !PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s: %zd numbers", name, count);
    Py_XDECREF(found);
    return valid;
}

bool read_address(PyObject *object, const char *name, void **address) {
    PyObject *found = PyObject_GetAttrString(object, name);
    if (!found) return false;
    *address = PyLong_AsVoidPtr(found);
    Py_DECREF(found);
    return *address || !PyErr_Occurred();
}

/* One of a list of names, as its index. */
bool read_name(PyObject *object, const char *name, const char *const *all, int count, int *index) {
    PyObject *found = PyObject_GetAttrString(object, name);
    if (!found) return false;
    *index = 0;
    while (*index < count && PyUnicode_CompareWithASCIIString(found, all[*index])) ++*index;
    if (*index == count) PyErr_Format(PyExc_ValueError, "%s: no such %s", name, name);
    Py_DECREF(found);
    return *index < count;
}
