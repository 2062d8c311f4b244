/* The guard of tensors of PyTorch. They are read through the C exchange API of DLPack, which is a
 * table of functions in a capsule, `__dlpack_c_exchange_api__` of the class. The structures are
 * those of version 1 of the standard. */
#include "dispatch.h"

enum { DLPACK_MAJOR = 1, DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_FLOAT = 2, DLPACK_COMPLEX = 5 };

typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* in elements */
    uint64_t byte_offset;
} DlpackTensor;

typedef struct DlpackExchange {
    uint32_t major, minor;
    const struct DlpackExchange *previous; /* of an older version */
    void (*allocate)(void), (*from_python)(void), (*to_python)(void);
    int (*read)(PyObject *array, DlpackTensor *tensor); /* valid until Python code runs */
} DlpackExchange;

/* Reads the identity: the capsule, the code and bits of the dtype, and torch.is_grad_enabled. */
bool read_torch_identity(ArrayGuard *g) {
    PyObject *capsule;
    if (!PyArg_ParseTuple(g->identity, "ObbO", &capsule, &g->code, &g->bits, &g->is_grad_enabled))
        return false;
    const DlpackExchange *found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (found && found->major != DLPACK_MAJOR) found = found->previous;
    g->exchange = found; /* NULL matches no tensor */
    return !PyErr_Occurred();
}

static bool is_false(PyObject *result) {
    Py_XDECREF(result);
    return result == Py_False;
}

/* Whether autograd would record an operation on the tensor; a launch is not recorded. */
static bool is_recorded(const ArrayGuard *g, PyObject *tensor) {
    return !is_false(PyObject_GetAttr(tensor, names.requires_grad)) &&
           !is_false(PyObject_CallNoArgs(g->is_grad_enabled));
}

/* Whether the elements in memory are the values: not those of a lazy conjugate or negative, as
 * `x.conj()` and its `.imag` are. The latter has strides, so contiguous tensors are not asked. */
static bool is_resolved(const ArrayGuard *g, PyObject *tensor, bool contiguous) {
    bool is_complex = g->code == DLPACK_COMPLEX;
    if (is_complex && !is_false(PyObject_CallMethodObjArgs(tensor, names.is_conj, NULL)))
        return false;
    if (!is_complex && (contiguous || g->code != DLPACK_FLOAT)) return true;
    return is_false(PyObject_CallMethodObjArgs(tensor, names.is_neg, NULL));
}

static bool is_on_device(const ArrayGuard *g, const DlpackTensor *tensor) {
    if (g->device < 0) return tensor->device_type == DLPACK_CPU;
    return tensor->device_type == DLPACK_CUDA && tensor->device_id == g->device;
}

bool torch_tensor_matches(const ArrayGuard *g, PyObject *argument, Launch *launch, Leaf *leaf) {
    DlpackTensor tensor;
    if (!g->exchange || !g->exchange->read || is_recorded(g, argument)) return false;
    if (g->exchange->read(argument, &tensor) != 0 || !tensor.data) return false;
    if (tensor.code != g->code || tensor.bits != g->bits || tensor.lanes != 1) return false;
    if (tensor.ndim != g->ndim || !is_on_device(g, &tensor)) return false;
    ForeignExtents *extents = launch->next_foreign++;
    npy_intp count = 1;
    for (int32_t axis = 0; axis < g->ndim; axis++) {
        extents->shape[axis] = (npy_intp)tensor.shape[axis];
        extents->strides[axis] = (npy_intp)tensor.strides[axis] * g->itemsize;
        count *= extents->shape[axis];
    }
    leaf->data = (char *)tensor.data + tensor.byte_offset;
    leaf->shape = extents->shape;
    leaf->strides = extents->strides;
    bool contiguous = are_contiguous(g, extents->shape, extents->strides, true);
    int32_t flags = NPY_ARRAY_WRITEABLE | (contiguous ? NPY_ARRAY_C_CONTIGUOUS : 0);
    return layout_matches(g, leaf, flags) && is_resolved(g, argument, contiguous && count > 1);
}
