/* Guards of numbers: whether one has the class and range that a dispatch entry needs, and its bytes
 * for the kernel. */
#include "dispatch.h"

#include <math.h>
#include <string.h>

#include <numpy/arrayscalars.h>

#define VALUE_OF(object, Kind) (((Py##Kind##ScalarObject *)(object))->obval)

/* The value of an integer; false if it does not fit in an int64. */
static bool read_integer(int32_t source, PyObject *argument, int64_t *value) {
    int overflow = 0;
    switch (source) {
    case PYTHON_INT: *value = PyLong_AsLongLongAndOverflow(argument, &overflow); return !overflow;
    case NPY_BOOL: *value = VALUE_OF(argument, Bool); return true;
    case NPY_BYTE: *value = VALUE_OF(argument, Byte); return true;
    case NPY_SHORT: *value = VALUE_OF(argument, Short); return true;
    case NPY_INT: *value = VALUE_OF(argument, Int); return true;
    case NPY_LONG: *value = VALUE_OF(argument, Long); return true;
    case NPY_LONGLONG: *value = VALUE_OF(argument, LongLong); return true;
    case NPY_UBYTE: *value = VALUE_OF(argument, UByte); return true;
    case NPY_USHORT: *value = VALUE_OF(argument, UShort); return true;
    case NPY_UINT: *value = VALUE_OF(argument, UInt); return true;
    case NPY_ULONG:
        *value = (int64_t)VALUE_OF(argument, ULong);
        return *value >= 0 || sizeof(npy_ulong) < 8;
    case NPY_ULONGLONG: *value = (int64_t)VALUE_OF(argument, ULongLong); return *value >= 0;
    default: return false;
    }
}

static bool integer_matches(const Guard *g, PyObject *argument, Leaf *leaf) {
    int64_t value;
    if (!read_integer(g->scalar.source, argument, &value)) return false;
    if (value < g->scalar.min || value > g->scalar.max) return false;
    leaf->integer = value;
    leaf->bytes = &leaf->converted;
    if (g->kind == GUARD_INTEGER_TO_FLOAT32) {
        leaf->converted.f32 = (float)value;
    } else if (g->kind == GUARD_INTEGER_TO_FLOAT64) {
        leaf->converted.f64 = (double)value;
    } else {
        switch (g->scalar.size) {
        case 1: leaf->converted.i8 = (int8_t)value; break;
        case 2: leaf->converted.i16 = (int16_t)value; break;
        case 4: leaf->converted.i32 = (int32_t)value; break;
        default: leaf->converted.i64 = value;
        }
    }
    return true;
}

static bool float64_fits_float32(const Guard *g, PyObject *argument, Leaf *leaf) {
    double wide =
        g->scalar.source == PYTHON_FLOAT ? PyFloat_AsDouble(argument) : VALUE_OF(argument, Double);
    float narrow = (float)wide;
    leaf->converted.f32 = narrow;
    leaf->bytes = &leaf->converted;
    if (!isfinite(wide)) return true;
    return g->scalar.exact ? (double)narrow == wide : isfinite(narrow);
}

static bool widen_float32(PyObject *argument, Leaf *leaf) {
    leaf->converted.f64 = VALUE_OF(argument, Float);
    leaf->bytes = &leaf->converted;
    return true;
}

/* The address of the bytes of a NumPy scalar. */
static const void *bytes_of(int32_t source, PyObject *argument) {
    switch (source) {
    case NPY_BOOL: return &VALUE_OF(argument, Bool);
    case NPY_BYTE: return &VALUE_OF(argument, Byte);
    case NPY_SHORT: return &VALUE_OF(argument, Short);
    case NPY_INT: return &VALUE_OF(argument, Int);
    case NPY_LONG: return &VALUE_OF(argument, Long);
    case NPY_LONGLONG: return &VALUE_OF(argument, LongLong);
    case NPY_UBYTE: return &VALUE_OF(argument, UByte);
    case NPY_USHORT: return &VALUE_OF(argument, UShort);
    case NPY_UINT: return &VALUE_OF(argument, UInt);
    case NPY_ULONG: return &VALUE_OF(argument, ULong);
    case NPY_ULONGLONG: return &VALUE_OF(argument, ULongLong);
    case NPY_HALF: return &VALUE_OF(argument, Half);
    case NPY_FLOAT: return &VALUE_OF(argument, Float);
    case NPY_DOUBLE: return &VALUE_OF(argument, Double);
    case NPY_CFLOAT: return &VALUE_OF(argument, CFloat);
    case NPY_CDOUBLE: return &VALUE_OF(argument, CDouble);
    default: return NULL;
    }
}

static bool same_bytes(const Guard *g, PyObject *argument, Leaf *leaf) {
    leaf->bytes = &leaf->converted;
    switch (g->scalar.source) {
    case PYTHON_FLOAT: leaf->converted.f64 = PyFloat_AsDouble(argument); return true;
    case PYTHON_COMPLEX:
        leaf->converted.c128[0] = PyComplex_RealAsDouble(argument);
        leaf->converted.c128[1] = PyComplex_ImagAsDouble(argument);
        return true;
    default: leaf->bytes = bytes_of(g->scalar.source, argument); return leaf->bytes;
    }
}

bool scalar_matches(const Guard *g, PyObject *argument, Leaf *leaf) {
    switch (g->kind) {
    case GUARD_SAME_BYTES: return same_bytes(g, argument, leaf);
    case GUARD_FLOAT64_TO_FLOAT32: return float64_fits_float32(g, argument, leaf);
    case GUARD_FLOAT32_TO_FLOAT64: return widen_float32(argument, leaf);
    default: return integer_matches(g, argument, leaf);
    }
}
