/* The guards of a dispatch entry over the arguments of a call. */
#include "dispatch.h"

/* The value of an exact Python int that fits in an int64. */
bool exact_int64(PyObject *object, int64_t *value) {
    int overflow = 0;
    if (!PyLong_CheckExact(object)) return false;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

/* Whether an argument matches its guards, which `next` steps over; fills its leaves. */
static bool argument_matches(
    const Guard **next, PyObject *argument, Launch *launch, Leaf **leaf
) {
    const Guard *g = (*next)++;
    if (g->kind == GUARD_CONSTANT) return argument == g->constant;
    if (Py_TYPE(argument) != g->type) return false;
    switch (g->kind) {
    case GUARD_NUMPY_ARRAY: return numpy_array_matches(&g->array, argument, (*leaf)++);
    case GUARD_DEVICE_ARRAY: return device_array_matches(&g->array, argument, launch, (*leaf)++);
    case GUARD_CUDA_INTERFACE:
        return cuda_interface_matches(&g->array, argument, launch, (*leaf)++);
    case GUARD_ATTRIBUTES: return attributes_match(&g->array, argument, launch, (*leaf)++);
    case GUARD_TORCH_TENSOR:
        return torch_tensor_matches(&g->array, argument, launch, (*leaf)++);
    case GUARD_TUPLE:
        if (PyTuple_Size(argument) != g->count) return false;
        for (Py_ssize_t i = 0; i < g->count; i++) {
            if (!argument_matches(next, PyTuple_GetItem(argument, i), launch, leaf)) return false;
        }
        return true;
    default: return scalar_matches(g, argument, (*leaf)++);
    }
}

bool arguments_match(
    const DispatchEntry *entry, PyObject *arguments, Launch *launch, Leaf *leaves
) {
    const Guard *next = entry->guards;
    if (PyTuple_Size(arguments) != entry->arguments) return false;
    for (Py_ssize_t i = 0; i < entry->arguments; i++) {
        if (!argument_matches(&next, PyTuple_GetItem(arguments, i), launch, &leaves)) return false;
    }
    return true;
}
