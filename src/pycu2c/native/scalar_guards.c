/* Guards of numbers: whether one has the class and range that a dispatch entry needs, and its bytes
 * as the kernel takes them. */
#include "dispatch.h"

#include <math.h>
#include <string.h>

#include <numpy/arrayscalars.h>

#define VALUE_OF(object, Kind) (((Py##Kind##ScalarObject *)(object))->obval)

/* The value of an integer; false if it does not fit in an int64. */
static bool read_integer(int32_t source, PyObject *given, int64_t *value) {
    int overflow = 0;
    switch (source) {
    case PYTHON_INT: *value = PyLong_AsLongLongAndOverflow(given, &overflow); return !overflow;
    case NPY_BOOL: *value = VALUE_OF(given, Bool); return true;
    case NPY_BYTE: *value = VALUE_OF(given, Byte); return true;
    case NPY_SHORT: *value = VALUE_OF(given, Short); return true;
    case NPY_INT: *value = VALUE_OF(given, Int); return true;
    case NPY_LONG: *value = VALUE_OF(given, Long); return true;
    case NPY_LONGLONG: *value = VALUE_OF(given, LongLong); return true;
    case NPY_UBYTE: *value = VALUE_OF(given, UByte); return true;
    case NPY_USHORT: *value = VALUE_OF(given, UShort); return true;
    case NPY_UINT: *value = VALUE_OF(given, UInt); return true;
    case NPY_ULONG:
        *value = (int64_t)VALUE_OF(given, ULong);
        return *value >= 0 || sizeof(npy_ulong) < 8;
    case NPY_ULONGLONG: *value = (int64_t)VALUE_OF(given, ULongLong); return *value >= 0;
    default: return false;
    }
}

static bool integer_matches(const Guard *g, PyObject *given, Leaf *leaf) {
    int64_t value;
    if (!read_integer(g->scalar.source, given, &value)) return false;
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

static bool float64_fits_float32(const Guard *g, PyObject *given, Leaf *leaf) {
    double wide =
        g->scalar.source == PYTHON_FLOAT ? PyFloat_AsDouble(given) : VALUE_OF(given, Double);
    float narrow = (float)wide;
    leaf->converted.f32 = narrow;
    leaf->bytes = &leaf->converted;
    if (!isfinite(wide)) return true;
    return g->scalar.exact ? (double)narrow == wide : isfinite(narrow);
}

static bool widen_float32(PyObject *given, Leaf *leaf) {
    leaf->converted.f64 = VALUE_OF(given, Float);
    leaf->bytes = &leaf->converted;
    return true;
}

/* Where the bytes of a number of NumPy's are. */
static const void *bytes_of(int32_t source, PyObject *given) {
    switch (source) {
    case NPY_BOOL: return &VALUE_OF(given, Bool);
    case NPY_BYTE: return &VALUE_OF(given, Byte);
    case NPY_SHORT: return &VALUE_OF(given, Short);
    case NPY_INT: return &VALUE_OF(given, Int);
    case NPY_LONG: return &VALUE_OF(given, Long);
    case NPY_LONGLONG: return &VALUE_OF(given, LongLong);
    case NPY_UBYTE: return &VALUE_OF(given, UByte);
    case NPY_USHORT: return &VALUE_OF(given, UShort);
    case NPY_UINT: return &VALUE_OF(given, UInt);
    case NPY_ULONG: return &VALUE_OF(given, ULong);
    case NPY_ULONGLONG: return &VALUE_OF(given, ULongLong);
    case NPY_HALF: return &VALUE_OF(given, Half);
    case NPY_FLOAT: return &VALUE_OF(given, Float);
    case NPY_DOUBLE: return &VALUE_OF(given, Double);
    case NPY_CFLOAT: return &VALUE_OF(given, CFloat);
    case NPY_CDOUBLE: return &VALUE_OF(given, CDouble);
    default: return NULL;
    }
}

static bool same_bytes(const Guard *g, PyObject *given, Leaf *leaf) {
    leaf->bytes = &leaf->converted;
    switch (g->scalar.source) {
    case PYTHON_FLOAT: leaf->converted.f64 = PyFloat_AsDouble(given); return true;
    case PYTHON_COMPLEX:
        leaf->converted.c128[0] = PyComplex_RealAsDouble(given);
        leaf->converted.c128[1] = PyComplex_ImagAsDouble(given);
        return true;
    default: leaf->bytes = bytes_of(g->scalar.source, given); return leaf->bytes;
    }
}

bool scalar_matches(const Guard *g, PyObject *given, Leaf *leaf) {
    switch (g->kind) {
    case GUARD_SAME_BYTES: return same_bytes(g, given, leaf);
    case GUARD_FLOAT64_TO_FLOAT32: return float64_fits_float32(g, given, leaf);
    case GUARD_FLOAT32_TO_FLOAT64: return widen_float32(given, leaf);
    default: return integer_matches(g, given, leaf);
    }
}
