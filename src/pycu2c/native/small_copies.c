/* Host arrays of a launch on a device: one copy brings all of them to the staging buffer, and one
 * brings back what the kernel writes. */
#include "dispatch.h"

#include <string.h>

enum { STAGED_ALIGNMENT = 256 }; /* bytes: that of device allocations */

/* The copy of a contiguous array that owns its memory, so two arrays share all of it or none. */
static StagedArray *staged_array(StagedArrays *staged, const Leaf *a, const Field *f) {
    for (int64_t i = 0; i < staged->count; i++) {
        if (staged->arrays[i].host == a->data) return &staged->arrays[i];
    }
    int64_t size = f->itemsize;
    for (int32_t axis = 0; axis < f->axis; axis++) size *= a->shape[axis];
    StagedArray *array = &staged->arrays[staged->count++];
    *array = (StagedArray){a->data, staged->size, size, false};
    staged->size += (size + STAGED_ALIGNMENT - 1) / STAGED_ALIGNMENT * STAGED_ALIGNMENT;
    return array;
}

/* Assigns part of the buffer to each staged array, and its address to the leaf; false if the buffer
 * is too small. */
bool stage_arrays(const DispatchEntry *entry, Leaf *leaves, StagedArrays *staged) {
    const StagingBuffer *buffer = entry->staging;
    staged->count = staged->size = staged->back_end = 0;
    staged->back_begin = buffer->size;
    for (const Field *f = entry->fields; f < entry->fields + entry->field_count; f++) {
        if (f->part != FIELD_ADDRESS || !(entry->staged >> f->leaf & 1)) continue;
        StagedArray *array = staged_array(staged, &leaves[f->leaf], f);
        if (staged->size > buffer->size) return false;
        leaves[f->leaf].data = buffer->device + array->offset;
        if (!(entry->staged_back >> f->leaf & 1)) continue;
        int64_t end = array->offset + array->size;
        array->copied_back = true;
        if (array->offset < staged->back_begin) staged->back_begin = array->offset;
        if (end > staged->back_end) staged->back_end = end;
    }
    return true;
}

int copy_staged_in(const StagingBuffer *buffer, const StagedArrays *staged, void *stream) {
    for (int64_t i = 0; i < staged->count; i++) {
        const StagedArray *array = &staged->arrays[i];
        memcpy(buffer->host + array->offset, array->host, (size_t)array->size);
    }
    return buffer->copy_to_device(
        (uintptr_t)buffer->device, buffer->host, (size_t)staged->size, stream
    );
}

/* Also waits for the kernel. */
int copy_staged_back(const StagingBuffer *buffer, const StagedArrays *staged, void *stream) {
    int64_t begin = staged->back_begin, size = staged->back_end - begin;
    int code = 0;
    if (size > 0) {
        uintptr_t from = (uintptr_t)buffer->device + (uintptr_t)begin;
        code = buffer->copy_to_host(buffer->host + begin, from, (size_t)size, stream);
    }
    if (!code) code = buffer->synchronize(stream);
    for (int64_t i = 0; !code && i < staged->count; i++) {
        const StagedArray *array = &staged->arrays[i];
        if (array->copied_back)
            memcpy(array->host, buffer->host + array->offset, (size_t)array->size);
    }
    return code;
}

/* ---- StagingBuffer(memory, size, device, host, copy_to_device, copy_to_host, synchronize) ---- */

static PyObject *staging_buffer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *memory;
    long long size;
    unsigned long long device, host, in, out, synchronize;
    (void)kwargs;
    if (!PyArg_ParseTuple(
            args, "OLKKKKK:StagingBuffer", &memory, &size, &device, &host, &in, &out, &synchronize
        )) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    StagingBuffer *self = (StagingBuffer *)allocate(type, 0);
    if (!self) return NULL;
    self->memory = Py_NewRef(memory);
    self->size = size;
    self->device = (char *)(uintptr_t)device;
    self->host = (char *)(uintptr_t)host;
    self->copy_to_device = (int (*)(uintptr_t, const void *, size_t, void *))(uintptr_t)in;
    self->copy_to_host = (int (*)(void *, uintptr_t, size_t, void *))(uintptr_t)out;
    self->synchronize = (int (*)(void *))(uintptr_t)synchronize;
    return (PyObject *)self;
}

static void staging_buffer_dealloc(PyObject *self) {
    Py_XDECREF(((StagingBuffer *)self)->memory);
    free_instance(self);
}

static PyType_Slot staging_buffer_slots[] = {
    {Py_tp_new, staging_buffer_new},
    {Py_tp_dealloc, staging_buffer_dealloc},
    {Py_tp_doc,
     "StagingBuffer(memory, size, device, host, copy_to_device, copy_to_host, synchronize)"
     "\n\nDevice and pinned host memory for copies of host arrays, and the addresses of "
     "the driver's functions."},
    {0, NULL},
};
PyType_Spec staging_buffer_spec = {
    "pycu2c.native._dispatch.StagingBuffer",
    sizeof(StagingBuffer),
    0,
    Py_TPFLAGS_DEFAULT,
    staging_buffer_slots,
};
