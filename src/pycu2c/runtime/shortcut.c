/* Launches like one before: checks the arguments of a call against what an earlier call had,
 * packs them and starts the kernel. A call that differs in anything is left to Python.
 *
 * It reads numpy's arrays and numbers where numpy's own macros do, and Python's through functions
 * of the stable ABI, declared here so that no headers need to be installed. It knows nothing of
 * kernels: a plan is made in Python (runtime/shortcut.py), and comes with an object that keeps alive
 * every other that it points to.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Python and numpy, as far as they are needed ---- */

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

extern Object *PyCFunction_NewEx(const Method *, Object *self, Object *module);
extern Object *PyCapsule_New(void *, const char *name, void (*destroy)(Object *));
extern void *PyCapsule_GetPointer(Object *, const char *name);
extern Object *PyTuple_Pack(intptr_t, ...);
extern intptr_t PyTuple_Size(Object *);
extern Object *PyTuple_GetItem(Object *, intptr_t);
extern int PyBytes_AsStringAndSize(Object *, char **, intptr_t *);
extern Object *PyBytes_FromStringAndSize(const char *, intptr_t);
extern long long PyLong_AsLongLongAndOverflow(Object *, int *overflow);
extern Object *PyLong_FromLong(long);
extern Object *PyBool_FromLong(long);
extern Object *PyObject_CallFunctionObjArgs(Object *, ...);
extern void Py_IncRef(Object *);
extern void Py_DecRef(Object *);
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);
extern Object _Py_NoneStruct;

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

/* ---- plans ---- */

enum { CONTIGUOUS = 0x1, MOST_LEAVES = 64, MOST_BYTES = 4096, MOST_PLANS = 16 };
#define INDEX_LIMIT ((int64_t)1 << 30) /* as in passes/facts.py */
#define BLOCKS_LIMIT ((int64_t)1 << 22)
#define EXACT_LIMIT ((int64_t)1 << 53) /* whole numbers below it are float64s */
#define MOST_ALONG_Y_AND_Z 65535

enum {
    ARRAY,
    WHOLE,
    FLOAT_OF_WHOLE,
    DOUBLE_OF_WHOLE,
    FLOAT_OF_DOUBLE,
    DOUBLE_OF_FLOAT,
    RAW,
    SAME,
    TUPLE
};

typedef struct { /* what an argument, or an item of one, has to be; the names are those of Python */
    int64_t kind;
    void *type;                /* its class, exactly */
    Object *object;            /* ARRAY: the dtype; SAME: the object itself */
    int64_t count;             /* ARRAY: axes; TUPLE: items, which follow; WHOLE: bytes */
    int64_t mask, flags;       /* ARRAY */
    int64_t alignment, size;   /* ARRAY: of elements, in bytes */
    int64_t least, most;       /* WHOLE */
    int64_t source;            /* WHOLE: bytes of a number of numpy's, negative if it has a sign;
                                  FLOAT_OF_DOUBLE: whether nothing may be rounded */
} Guard;

enum { DATA, SHAPE, STRIDE, VALUE };

typedef struct { /* one parameter of the kernel */
    int64_t part, leaf, axis, offset, size, divisor;
} Field;

typedef int (*Start)(void *body, const void *packed, int64_t blocks); /* as in pool.c */

typedef struct {
    int64_t arguments, guards, leaves, fields, bytes;
    int64_t block[3], shared; /* a block of 0 threads: any */
    int64_t axes;             /* of the grid, if it follows from the data: then these lengths */
    int64_t lengths[3][2];    /* a leaf, and its axis, or -1: a number */
    Start start;
    void *body;
    Object *token, *finished;
} Head;

typedef struct {
    Head head;
    const Guard *guards;
    const Field *fields;
    Object *held;
} Plan;

typedef struct {
    int count, last;
    Plan *plans[MOST_PLANS];
} Table;

typedef struct { /* a number or an array that was given */
    const Array *array;
    const void *bytes;
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } made;
    int64_t whole;
} Leaf;

typedef struct { /* what a kernel for the CPU reads first */
    int32_t grid[3], block[3];
    int64_t shared;
} Launch;

/* ---- does it fit? ---- */

static uint64_t size_of(int64_t n) { return n < 0 ? 0 - (uint64_t)n : (uint64_t)n; }

/* Every element lies where a kernel may look, and numbers of 30 bits reach them all. */
static bool walks(const Guard *g, const Array *a) {
    int64_t elements = 1, passed = 0;
    for (int axis = 0; axis < a->axes; axis++) {
        int64_t n = a->shape[axis], step = a->strides[axis];
        if (n < 1 || n >= INDEX_LIMIT) return false;
        elements *= n;
        if (elements >= INDEX_LIMIT) return false;
        if (n == 1 || (a->flags & CONTIGUOUS)) continue;
        if (step % g->size || size_of(step / g->size) >= (uint64_t)INDEX_LIMIT) return false;
        passed += (n - 1) * (int64_t)size_of(step / g->size);
        if (passed >= INDEX_LIMIT) return false;
    }
    return true;
}

static bool is_array(const Guard *g, const Array *a, Leaf *leaf) {
    leaf->array = a;
    return a->dtype == g->object && a->axes == g->count && (a->flags & g->mask) == g->flags &&
           (uintptr_t)a->data % (uintptr_t)g->alignment == 0 && walks(g, a);
}

/* The value of an integer; false if 64 bits with a sign do not hold it. */
static bool read_whole(const Guard *g, Object *given, int64_t *n) {
    int overflow = 0;
    const void *bytes = ((const Scalar *)given)->bytes;
    switch (g->source) {
    case -1: *n = *(const int8_t *)bytes; return true;
    case -2: *n = *(const int16_t *)bytes; return true;
    case -4: *n = *(const int32_t *)bytes; return true;
    case -8: *n = *(const int64_t *)bytes; return true;
    case 1: *n = *(const uint8_t *)bytes; return true;
    case 2: *n = *(const uint16_t *)bytes; return true;
    case 4: *n = *(const uint32_t *)bytes; return true;
    case 8: *n = *(const int64_t *)bytes; return *n >= 0;
    default: *n = PyLong_AsLongLongAndOverflow(given, &overflow); return !overflow;
    }
}

static bool is_whole(const Guard *g, Object *given, Leaf *leaf) {
    int64_t n;
    if (!read_whole(g, given, &n) || n < g->least || n > g->most) return false;
    leaf->whole = n;
    leaf->bytes = &leaf->made;
    switch (g->kind) {
    case FLOAT_OF_WHOLE: leaf->made.f32 = (float)n; break;
    case DOUBLE_OF_WHOLE: leaf->made.f64 = (double)n; break;
    default:
        switch (g->count) {
        case 1: leaf->made.i8 = (int8_t)n; break;
        case 2: leaf->made.i16 = (int16_t)n; break;
        case 4: leaf->made.i32 = (int32_t)n; break;
        default: leaf->made.i64 = n;
        }
    }
    return true;
}

static bool is_single(const Guard *g, Object *given, Leaf *leaf) {
    double wide;
    memcpy(&wide, ((const Scalar *)given)->bytes, sizeof wide);
    float single = leaf->made.f32 = (float)wide;
    leaf->bytes = &leaf->made;
    if (!isfinite(wide)) return true;
    return g->source ? (double)single == wide : isfinite(single);
}

static bool is_widened(Object *given, Leaf *leaf) {
    float single;
    memcpy(&single, ((const Scalar *)given)->bytes, sizeof single);
    leaf->made.f64 = single;
    leaf->bytes = &leaf->made;
    return true;
}

/* Whether an argument is as its guards say, which it steps over; its leaves are filled in. */
static bool fits(const Guard **next, Object *given, Leaf **leaf) {
    const Guard *g = (*next)++;
    if (g->kind == SAME) return given == g->object;
    if (given->type != g->type) return false;
    switch (g->kind) {
    case ARRAY: return is_array(g, (const Array *)given, (*leaf)++);
    case RAW: (*leaf)++->bytes = ((const Scalar *)given)->bytes; return true;
    case FLOAT_OF_DOUBLE: return is_single(g, given, (*leaf)++);
    case DOUBLE_OF_FLOAT: return is_widened(given, (*leaf)++);
    case TUPLE:
        if (PyTuple_Size(given) != g->count) return false;
        for (int64_t i = 0; i < g->count; i++) {
            if (!fits(next, PyTuple_GetItem(given, i), leaf)) return false;
        }
        return true;
    default: return is_whole(g, given, (*leaf)++);
    }
}

static bool all_fit(const Plan *plan, Object *arguments, Leaf *leaves) {
    const Guard *next = plan->guards;
    if (PyTuple_Size(arguments) != plan->head.arguments) return false;
    for (int64_t i = 0; i < plan->head.arguments; i++) {
        if (!fits(&next, PyTuple_GetItem(arguments, i), &leaves)) return false;
    }
    return true;
}

/* The grid that follows from the data, where a launch leaves it open. */
static bool size_grid(const Head *head, const Leaf *leaves, Launch *launch) {
    launch->grid[0] = launch->grid[1] = launch->grid[2] = 1;
    for (int64_t axis = 0; axis < head->axes; axis++) {
        const Leaf *leaf = &leaves[head->lengths[axis][0]];
        int64_t along = head->lengths[axis][1], threads = launch->block[axis];
        int64_t length = along < 0 ? leaf->whole : leaf->array->shape[along];
        int64_t blocks = length <= threads ? 1 : (length - 1) / threads + 1;
        if (blocks > (axis ? MOST_ALONG_Y_AND_Z : BLOCKS_LIMIT)) return false;
        launch->grid[axis] = (int32_t)blocks;
    }
    return head->axes > 0;
}

static bool runs(const Head *head, const Launch *launch) {
    for (int axis = 0; axis < 3; axis++) {
        int64_t blocks = launch->grid[axis], threads = launch->block[axis];
        if (head->block[axis] && head->block[axis] != threads) return false;
        if (blocks > BLOCKS_LIMIT || blocks * threads >= INDEX_LIMIT) return false;
    }
    return launch->shared == head->shared;
}

/* ---- packing and running ---- */

static int64_t steps_of(const Array *a, const Field *f) { /* in elements, rounded down */
    int64_t step = a->strides[f->axis], steps = step / f->divisor;
    return step % f->divisor < 0 ? steps - 1 : steps;
}

static void put(unsigned char *to, const Field *f, const Leaf *leaf) {
    int64_t wide;
    switch (f->part) {
    case DATA: memcpy(to, &leaf->array->data, sizeof(char *)); return;
    case VALUE: memcpy(to, leaf->bytes, (size_t)f->size); return;
    case SHAPE: wide = leaf->array->shape[f->axis]; break;
    default: wide = steps_of(leaf->array, f);
    }
    int32_t narrow = (int32_t)wide;
    memcpy(to, f->size == 4 ? (void *)&narrow : (void *)&wide, (size_t)f->size);
}

static bool launched(const Plan *plan, Launch *launch, Object *arguments, int *code) {
    Leaf leaves[MOST_LEAVES];
    _Alignas(64) unsigned char packed[MOST_BYTES];
    const Head *head = &plan->head;
    if (!all_fit(plan, arguments, leaves)) return false;
    if (launch->grid[0] == 0 && !size_grid(head, leaves, launch)) return false;
    if (!runs(head, launch)) return false;
    memset(packed, 0, (size_t)head->bytes);
    memcpy(packed, launch, sizeof *launch);
    for (int64_t i = 0; i < head->fields; i++) {
        const Field *f = &plan->fields[i];
        put(packed + f->offset, f, &leaves[f->leaf]);
    }
    int64_t blocks = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    void *thread = PyEval_SaveThread();
    *code = head->start(head->body, packed, blocks);
    PyEval_RestoreThread(thread);
    return true;
}

static Object *none(void) {
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

/* Whether Python has nothing to raise about the code of a run. */
static bool tell(Object *finished, int code, const Launch *launch) {
    Object *number = PyLong_FromLong(code);
    Object *bytes = PyBytes_FromStringAndSize((const char *)launch, sizeof *launch);
    Object *done = number && bytes ? PyObject_CallFunctionObjArgs(finished, number, bytes, 0) : 0;
    if (number) Py_DecRef(number);
    if (bytes) Py_DecRef(bytes);
    if (done) Py_DecRef(done);
    return done;
}

/* run(launch: bytes, arguments: tuple) -> the token of the plan that ran, or None */
static Object *run(Object *self, Object *const *given, intptr_t count) {
    Table *table = PyCapsule_GetPointer(self, 0);
    char *bytes;
    intptr_t size;
    if (!table || count != 2 || PyBytes_AsStringAndSize(given[0], &bytes, &size) < 0) return 0;
    if (size != sizeof(Launch)) return none();
    for (int tried = 0, i = table->last; tried < table->count; tried++, i++) {
        if (i >= table->count) i = 0;
        const Head *head = &table->plans[i]->head;
        int code = 0;
        Launch launch;
        memcpy(&launch, bytes, sizeof launch);
        if (!launched(table->plans[i], &launch, given[1], &code)) continue;
        table->last = i;
        if (code && !tell(head->finished, code, &launch)) return 0;
        Py_IncRef(head->token);
        return head->token;
    }
    return none();
}

/* ---- making plans ---- */

/* add(plan: bytes, held: object) -> whether there was room for it */
static Object *add(Object *self, Object *const *given, intptr_t count) {
    Table *table = PyCapsule_GetPointer(self, 0);
    char *bytes;
    intptr_t size;
    if (!table || count != 2 || PyBytes_AsStringAndSize(given[0], &bytes, &size) < 0) return 0;
    Head head;
    memcpy(&head, bytes, sizeof head);
    bool small = head.leaves <= MOST_LEAVES && head.bytes <= MOST_BYTES;
    if (!small || table->count == MOST_PLANS) return PyBool_FromLong(0);
    Plan *plan = malloc(sizeof *plan + (size_t)size);
    if (!plan) return PyBool_FromLong(0);
    memcpy(plan + 1, bytes, (size_t)size);
    plan->head = head;
    plan->guards = (const Guard *)((const char *)(plan + 1) + sizeof head);
    plan->fields = (const Field *)(plan->guards + head.guards);
    plan->held = given[1];
    Py_IncRef(plan->held);
    table->plans[table->count++] = plan;
    return PyBool_FromLong(1);
}

static void destroy(Object *self) {
    Table *table = PyCapsule_GetPointer(self, 0);
    for (int i = 0; i < table->count; i++) {
        Py_DecRef(table->plans[i]->held);
        free(table->plans[i]);
    }
    free(table);
}

/* In a kernel's place, for the test at the start: keeps the first bytes of what was packed. */
int pycu2c_shortcut_keep(void *to, const void *packed, int64_t bytes) {
    memcpy(to, packed, (size_t)bytes);
    return 0;
}

/* A table of plans, as its two functions: run and add. */
Object *pycu2c_shortcut(void) {
    static const Method run_method = {"run", run, FASTCALL, 0};
    static const Method add_method = {"add", add, FASTCALL, 0};
    Table *table = calloc(1, sizeof *table);
    Object *self = table ? PyCapsule_New(table, 0, destroy) : 0;
    if (!self) return 0;
    Object *first = PyCFunction_NewEx(&run_method, self, 0);
    Object *second = PyCFunction_NewEx(&add_method, self, 0);
    Object *pair = first && second ? PyTuple_Pack(2, first, second) : 0;
    Py_DecRef(self);
    if (first) Py_DecRef(first);
    if (second) Py_DecRef(second);
    return pair;
}
