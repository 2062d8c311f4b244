#ifndef PYCU2C_ATTRIBUTES_H
#define PYCU2C_ATTRIBUTES_H

#include "dispatch.h"

bool read_int64(PyObject *object, const char *name, int64_t *value);
bool read_int32(PyObject *object, const char *name, int32_t *value);
bool read_uint64(PyObject *object, const char *name, uint64_t *value);
bool read_bool(PyObject *object, const char *name, bool *value);
bool read_object(PyObject *object, const char *name, PyObject **value);
bool read_int64s(PyObject *object, const char *name, int64_t *values, Py_ssize_t count);
bool read_address(PyObject *object, const char *name, void **address);
bool read_name(PyObject *object, const char *name, const char *const *all, int count, int *index);

#endif
