/* Launches like one before: checks the arguments of a call against what an earlier call had, packs
 * them and starts the kernel. A call that differs in anything is left to Python.
 *
 * One text of several files (runtime/plans/library.py). This one is Python and numpy, as far as they
 * are needed: functions of the stable ABI, declared here so that no headers need to be installed;
 * numpy's arrays and numbers are read where numpy's own macros read them.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Object {
    intptr_t references;
    void *type;
} Object;

typedef Object *(*Function)(Object *self, Object *const *given, intptr_t count);
typedef struct {
    const char *name;
    Function function;
    int flags;
    const char *text;
} Method;
enum { FASTCALL = 0x80 };

typedef struct {
    int slot;
    void *function;
} Slot;
typedef struct {
    const char *name;
    int basic_size, item_size;
    unsigned int flags;
    Slot *slots;
} Specification;
enum { OF_SUBSCRIPTS = 5, OF_CALLS = 50 }; /* slots */
enum { BASE_OF_OTHERS = 1 << 10 };

extern Object *PyType_FromSpec(Specification *);
extern Object *PyCFunction_NewEx(const Method *, Object *self, Object *module);
extern Object *PyCapsule_New(void *, const char *name, void (*destroy)(Object *));
extern void *PyCapsule_GetPointer(Object *, const char *name);
extern Object *PyTuple_New(intptr_t);
extern Object *PyTuple_Pack(intptr_t, ...);
extern int PyTuple_SetItem(Object *, intptr_t, Object *); /* takes the reference */
extern intptr_t PyTuple_Size(Object *);
extern Object *PyTuple_GetItem(Object *, intptr_t);
extern Object *PyDict_GetItemWithError(Object *, Object *key); /* borrowed */
extern intptr_t PyDict_Size(Object *);
extern int PyBytes_AsStringAndSize(Object *, char **, intptr_t *);
extern Object *PyBytes_FromStringAndSize(const char *, intptr_t);
extern Object *PyUnicode_InternFromString(const char *);
extern int PyUnicode_Compare(Object *, Object *);
extern long long PyLong_AsLongLongAndOverflow(Object *, int *overflow);
extern Object *PyLong_FromLong(long);
extern Object *PyBool_FromLong(long);
extern Object *PyObject_GetAttr(Object *, Object *name);
extern Object *PyObject_Call(Object *, Object *given, Object *named);
extern Object *PyObject_CallFunctionObjArgs(Object *, ...);
extern Object *PyObject_CallMethodObjArgs(Object *, Object *name, ...);
extern Object *PyErr_Occurred(void);
extern int PyErr_ExceptionMatches(Object *);
extern void PyErr_Clear(void);
extern void Py_IncRef(Object *);
extern void Py_DecRef(Object *);
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);
extern Object _Py_NoneStruct, _Py_FalseStruct;
extern Object PyTuple_Type, PyLong_Type, PyDict_Type, PyBytes_Type, PyUnicode_Type;
extern Object *PyExc_Exception;

typedef struct { /* PyArrayObject_fields */
    Object object;
    char *data;
    int axes;
    const intptr_t *shape, *strides;
    Object *base, *dtype;
    int flags;
} Array;

/* A number of numpy's, a float or a complex number: its bytes follow the head of the object. */
typedef struct {
    Object object;
    unsigned char bytes[];
} Scalar;

static bool is_of(const Object *object, const Object *type) { return object->type == type; }

static bool is_none(const Object *object) { return object == &_Py_NoneStruct; }

static Object *none(void) {
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

static void drop(Object *object) {
    if (object) Py_DecRef(object);
}

/* A tuple's items lie where other objects of its class end. Reading them there is a tenth of what a
 * launch takes less than asking for each. */
static intptr_t end_of_tuple;

typedef struct {
    Object object;
    intptr_t count;
} Tuple;

static intptr_t count_of(const Object *tuple) { return ((const Tuple *)tuple)->count; }

static Object *const *items_of(const Object *tuple) {
    return (Object *const *)((const char *)tuple + end_of_tuple);
}

/* The object in a __slots__ place of another, or null; borrowed. */
static Object *slot(const Object *object, int64_t place) {
    return *(Object *const *)((const char *)object + place);
}

/* Puts an object there, and gives what was there before: to be dropped when all is in order, since
 * that may run any code. */
static Object *exchange(Object *object, int64_t place, Object *value) {
    Object **to = (Object **)((char *)object + place), *before = *to;
    Py_IncRef(value);
    *to = value;
    return before;
}

/* The value of a Python int that 64 bits with a sign hold. */
static bool is_int(Object *object, int64_t *n) {
    int overflow = 0;
    if (!is_of(object, &PyLong_Type)) return false;
    *n = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

/* What is looked up by name, again and again. */
static struct {
    Object *interface, *data, *shape, *strides, *typestr, *mask, *stream; /* of foreign arrays */
    Object *used_on, *own, *ordinarily, *configured; /* of our own classes */
} names;

static bool name_all(void) {
    names.interface = PyUnicode_InternFromString("__cuda_array_interface__");
    names.data = PyUnicode_InternFromString("data");
    names.shape = PyUnicode_InternFromString("shape");
    names.strides = PyUnicode_InternFromString("strides");
    names.typestr = PyUnicode_InternFromString("typestr");
    names.mask = PyUnicode_InternFromString("mask");
    names.stream = PyUnicode_InternFromString("stream");
    names.used_on = PyUnicode_InternFromString("used_on");
    names.own = PyUnicode_InternFromString("_own");
    names.ordinarily = PyUnicode_InternFromString("_ordinarily");
    names.configured = PyUnicode_InternFromString("_configured_as");
    Object *const *all = (Object *const *)&names;
    for (size_t i = 0; i < sizeof names / sizeof *all; i++) {
        if (!all[i]) return false;
    }
    return true;
}
