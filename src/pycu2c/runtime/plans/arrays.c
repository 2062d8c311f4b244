/* Arrays: whether one is as its guard says, and where it lies. Those of other packages are read
 * through their attributes, which may run any code. */

enum { CONTIGUOUS = 1, WRITEABLE = 2 }; /* flags of arrays that are not numpy's */
enum { ADDRESS_OF_DATA, SHAPE_OF_ALL, STREAM_OF_OWNER, CONDITIONS }; /* of ATTRIBUTES */

static uint64_t size_of(int64_t n) { return n < 0 ? 0 - (uint64_t)n : (uint64_t)n; }

/* Every element lies where a kernel may look, and numbers of 30 bits reach them all. */
static bool walks(const Guard *g, const Leaf *a, bool contiguous) {
    int64_t elements = 1, passed = 0;
    for (int64_t axis = 0; axis < g->count; axis++) {
        int64_t n = a->shape[axis], step = a->strides[axis];
        if (n < 1 || n >= INDEX_LIMIT) return false;
        elements *= n;
        if (elements >= INDEX_LIMIT) return false;
        if (n == 1 || contiguous) continue;
        if (step % g->size || size_of(step / g->size) >= (uint64_t)INDEX_LIMIT) return false;
        passed += (n - 1) * (int64_t)size_of(step / g->size);
        if (passed >= INDEX_LIMIT) return false;
    }
    return true;
}

static bool lies_well(const Guard *g, const Leaf *a, bool contiguous) {
    if (g->trusted) return true;
    return !((uintptr_t)a->data & (uintptr_t)(g->alignment - 1)) && walks(g, a, contiguous);
}

static bool is_numpy(const Guard *g, const Array *a, Leaf *leaf) {
    leaf->data = a->data;
    leaf->shape = a->shape;
    leaf->strides = a->strides;
    return a->dtype == g->object && a->axes == g->count && (a->flags & g->mask) == g->flags &&
           lies_well(g, leaf, a->flags & CONTIGUOUS);
}

/* Memory goes back in the order of the default stream: an array has to know of others. */
static bool tell_stream(Object *array, Object *stream) {
    Object *done = PyObject_CallMethodObjArgs(array, names.used_on, stream, (Object *)0);
    drop(done);
    return done;
}

/* An array of this package's, which says all in a row of words (devices/array.py). */
static bool is_own(const Guard *g, Object *a, const Launch *launch, Leaf *leaf) {
    enum { ADDRESS, DEVICE, FLAGS, AXES, LENGTHS };
    Object *held = slot(a, g->words);
    char *bytes;
    intptr_t size;
    if (slot(a, g->dtype) != g->object || !held || !is_of(held, &PyBytes_Type)) return false;
    if (PyBytes_AsStringAndSize(held, &bytes, &size) < 0) return false;
    if (size != (LENGTHS + 2 * g->count) * (intptr_t)sizeof(int64_t)) return false;
    const int64_t *words = (const int64_t *)bytes;
    leaf->data = (char *)(uintptr_t)words[ADDRESS];
    leaf->shape = words + LENGTHS;
    leaf->strides = words + LENGTHS + g->count;
    if (words[AXES] != g->count || words[DEVICE] != g->device) return false;
    if ((words[FLAGS] & g->mask) != g->flags) return false;
    if (!lies_well(g, leaf, words[FLAGS] & CONTIGUOUS)) return false;
    return launch->in_order || g->device < 0 || tell_stream(a, launch->told);
}

/* ---- of other packages ---- */

/* Whether it is a tuple of so many ints, which are kept. */
static bool is_row(Object *given, int64_t count, int64_t *kept) {
    if (!given || PyTuple_Size(given) != count) return false;
    for (int64_t i = 0; i < count; i++) {
        if (!is_int(items_of(given)[i], &kept[i])) return false;
    }
    return true;
}

/* The strides of an array without gaps; whether those that it has are the same where they count. */
static bool is_packed(const Guard *g, const int64_t *shape, int64_t *strides, bool given) {
    int64_t step = g->size;
    bool same = true, empty = false;
    for (int64_t axis = g->count - 1; axis >= 0; axis--) {
        if (!given) strides[axis] = step;
        if (shape[axis] > 1 && strides[axis] != step) same = false;
        if (shape[axis] == 0) empty = true;
        step *= shape[axis];
    }
    return same || empty;
}

/* The shape and strides of an array, from tuples; no strides: there are no gaps. */
static bool is_shaped(
    const Guard *g, Object *shape, Object *strides, int32_t flags, Launch *launch, Leaf *leaf
) {
    bool given = strides && !is_none(strides);
    Kept *kept = launch->kept++;
    leaf->shape = kept->shape;
    leaf->strides = kept->strides;
    if (!is_row(shape, g->count, kept->shape)) return false;
    if (given && !is_row(strides, g->count, kept->strides)) return false;
    if (is_packed(g, kept->shape, kept->strides, given)) flags |= CONTIGUOUS;
    return (flags & g->mask) == g->flags && lies_well(g, leaf, flags & CONTIGUOUS);
}

/* Whether what works on an array in a stream is before what is launched in another. The default
 * stream has two names. */
static bool is_before(int64_t owner, int64_t stream) {
    return owner == stream || ((owner | 1) == 1 && (stream | 1) == 1);
}

static bool is_described(const Guard *g, Object *told, Launch *launch, Leaf *leaf) {
    Object *typestr = PyDict_GetItemWithError(told, names.typestr);
    Object *data = PyDict_GetItemWithError(told, names.data);
    Object *mask = PyDict_GetItemWithError(told, names.mask);
    Object *owner = PyDict_GetItemWithError(told, names.stream);
    int64_t address, other;
    if (!typestr || !is_of(typestr, &PyUnicode_Type) || PyUnicode_Compare(typestr, g->object)) {
        return false;
    }
    if (mask && !is_none(mask)) return false;
    if (owner && !is_none(owner) && !(is_int(owner, &other) && is_before(other, launch->stream))) {
        return false;
    }
    if (!data || !is_of(data, &PyTuple_Type) || count_of(data) != 2) return false;
    if (!is_int(items_of(data)[0], &address)) return false;
    leaf->data = (char *)(uintptr_t)address;
    int32_t flags = items_of(data)[1] == &_Py_FalseStruct ? WRITEABLE : 0;
    Object *shape = PyDict_GetItemWithError(told, names.shape);
    Object *strides = PyDict_GetItemWithError(told, names.strides);
    return is_shaped(g, shape, strides, flags, launch, leaf);
}

static bool has_interface(const Guard *g, Object *given, Launch *launch, Leaf *leaf) {
    Object *told = PyObject_GetAttr(given, names.interface);
    bool is = told && is_of(told, &PyDict_Type) && is_described(g, told, launch, leaf);
    drop(told);
    return is;
}

/* ---- by attributes that say what the interface does, in a part of the time ---- */

/* What a path of names leads to from an object, new; where it has None, what is there is called. */
static Object *follow(Object *from, Object *path) {
    Object *here = from;
    Py_IncRef(here);
    for (intptr_t i = 0; here && i < count_of(path); i++) {
        Object *step = items_of(path)[i], *before = here;
        here = is_none(step) ? PyObject_CallFunctionObjArgs(before, (Object *)0)
                             : PyObject_GetAttr(before, step);
        drop(before);
    }
    return here;
}

static bool leads_to(Object *from, Object *path, const Object *expected) {
    Object *found = follow(from, path);
    drop(found);
    return found == expected;
}

static bool leads_to_int(Object *from, Object *path, int64_t *n) {
    Object *found = follow(from, path);
    bool is = found && is_int(found, n);
    drop(found);
    return is;
}

/* Whether the stream that the package works in now, which is asked once for a launch, is before
 * it. */
static bool is_after_owner(const Guard *g, Launch *launch) {
    int64_t owner;
    if (launch->after == g->current || is_none(g->current)) return true;
    if (!leads_to_int(g->current, items_of(g->object)[STREAM_OF_OWNER], &owner)) return false;
    if (!is_before(owner, launch->stream)) return false;
    launch->after = g->current;
    return true;
}

/* The guard's object: paths to the address, the shape, and the number of a stream from what gives
 * it; then other paths, each before the object that it has to lead to. */
static bool has_attributes(const Guard *g, Object *given, Launch *launch, Leaf *leaf) {
    Object *const *paths = items_of(g->object);
    int64_t address;
    if (!is_after_owner(g, launch)) return false;
    for (intptr_t i = CONDITIONS; i < count_of(g->object); i += 2) {
        if (!leads_to(given, paths[i], paths[i + 1])) return false;
    }
    if (!leads_to_int(given, paths[ADDRESS_OF_DATA], &address)) return false;
    leaf->data = (char *)(uintptr_t)address;
    Object *shape = follow(given, paths[SHAPE_OF_ALL]);
    bool is = is_shaped(g, shape, 0, WRITEABLE, launch, leaf);
    drop(shape);
    return is;
}
