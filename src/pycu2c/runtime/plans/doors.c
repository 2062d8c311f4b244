/* What Python is given: a table of plans with its functions, and classes of what may be called. */

/* Whether Python has nothing to raise about the code of a run. */
static bool tell(Object *finished, int code, const Launch *launch) {
    Object *number = PyLong_FromLong(code);
    Object *bytes = PyBytes_FromStringAndSize((const char *)&launch->head, sizeof launch->head);
    Object *done = 0;
    if (number && bytes) done = PyObject_CallFunctionObjArgs(finished, number, bytes, (Object *)0);
    drop(number), drop(bytes), drop(done);
    return done;
}

/* What looking at foreign arrays has raised is for the ordinary way, which looks again; but for
 * what is no error, as KeyboardInterrupt. */
static bool is_quiet(void) {
    if (!PyErr_Occurred()) return true;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_Clear();
    return true;
}

/* The names of the kernels that were started on a device last, the latest at the end: a fault is told
 * by a later call, which does not know whose it is. */
static Object *recent[4];

static void note(Object *kernel) {
    enum { LAST = sizeof recent / sizeof *recent - 1 };
    if (recent[LAST] == kernel) return;
    Object *oldest = recent[0];
    memmove(&recent[0], &recent[1], LAST * sizeof *recent);
    Py_IncRef(kernel);
    recent[LAST] = kernel;
    drop(oldest);
}

Object *pycu2c_recent(void) {
    Object *names[4];
    for (int i = 0; i < 4; i++) names[i] = recent[i] ? recent[i] : &_Py_NoneStruct;
    return PyTuple_Pack(4, names[0], names[1], names[2], names[3]);
}

enum { FAILED = -1, NONE, RAN };

static const int64_t no_thread;
static const int64_t *capturing = &no_thread; /* how many threads note launches for graphs */

void pycu2c_capturing(const int64_t *threads) { capturing = threads; }

/* Runs a launch by the first plan that it fits, from the one that ran last. */
static int run_by(Table *table, const Launch *wanted, Object *arguments) {
    if (*capturing) return NONE; /* Python knows whose launches are noted, and notes them */
    for (int tried = 0, i = table->last; tried < table->count; tried++, i++) {
        if (i >= table->count) i = 0;
        const Head *head = &table->plans[i]->head;
        int code = 0;
        Launch launch = *wanted;
        if (!ran(table->plans[i], &launch, arguments, &code)) {
            if (!is_quiet()) return FAILED;
            continue;
        }
        table->last = i;
        table->latest = head->token;
        if (head->current) note(table->kernel);
        return code && !tell(head->finished, code, &launch) ? FAILED : RAN;
    }
    return NONE;
}

/* What is asked for, in the words of CALL in configuration.py. */
static bool read_launch(Object *bytes, Object *stream, Launch *launch) {
    char *from;
    intptr_t size;
    if (PyBytes_AsStringAndSize(bytes, &from, &size) < 0) return false;
    memcpy(launch, from, offsetof(Launch, told));
    launch->told = stream;
    launch->after = 0;
    return true;
}

/* ---- the functions of a table: its plans are never taken away, since a thread may be in one ---- */

/* run(launch: bytes, stream, arguments: tuple) -> whether it has run */
static Object *run(Object *self, Object *const *given, intptr_t count) {
    Table *table = PyCapsule_GetPointer(self, 0);
    Launch launch;
    if (!table || count != 3 || !read_launch(given[0], given[1], &launch)) return 0;
    int result = run_by(table, &launch, given[2]);
    return result == FAILED ? 0 : PyBool_FromLong(result == RAN);
}

/* latest() -> the token of the plan that ran last, once; else None */
static Object *latest(Object *self, Object *const *given, intptr_t count) {
    Table *table = PyCapsule_GetPointer(self, 0);
    (void)given, (void)count;
    if (!table) return 0;
    Object *token = table->latest ? table->latest : &_Py_NoneStruct;
    table->latest = 0;
    Py_IncRef(token);
    return token;
}

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
    Py_DecRef(table->kernel), Py_DecRef(table->names), Py_DecRef(table->defaults);
    free(table);
}

/* A table of plans and its functions, for a kernel of this name and these parameters. */
Object *pycu2c_plans(Object *kernel, Object *names, Object *defaults, int64_t positional) {
    static const Method methods[] = {
        {"run", run, FASTCALL, 0}, {"add", add, FASTCALL, 0}, {"latest", latest, FASTCALL, 0}};
    Table *table = calloc(1, sizeof *table);
    Object *self = table ? PyCapsule_New(table, 0, destroy) : 0;
    if (!self) return free(table), (Object *)0;
    table->kernel = kernel, table->names = names, table->defaults = defaults;
    table->positional = positional;
    Py_IncRef(kernel), Py_IncRef(names), Py_IncRef(defaults);
    Object *made[3], *all = 0;
    for (int i = 0; i < 3; i++) made[i] = PyCFunction_NewEx(&methods[i], self, 0);
    if (made[0] && made[1] && made[2]) all = PyTuple_Pack(4, self, made[0], made[1], made[2]);
    drop(self), drop(made[0]), drop(made[1]), drop(made[2]);
    return all;
}

/* ---- classes: a kernel and its configurations once there are plans, as kernel.py has them ---- */

static struct { /* where objects of those classes have their slots */
    int64_t launches, head, stream; /* a configuration */
    int64_t plans;                  /* its launches */
    int64_t own, configured;        /* a kernel */
    int64_t last_key, last;         /* what was in its brackets last, and what that gave */
} places;

/* The value of a parameter that is not given by position, borrowed; null if it has none. */
static Object *named_value(const Table *table, Object *name, Object *named, intptr_t *used) {
    Object *value = named ? PyDict_GetItemWithError(named, name) : 0;
    if (value) ++*used;
    return value ? value : PyDict_GetItemWithError(table->defaults, name);
}

/* A value for each parameter, new; null if that takes an error, which Python makes. */
static Object *values_of(const Table *table, Object *given, Object *named) {
    intptr_t count = count_of(given), all = count_of(table->names), used = 0;
    intptr_t by_name = named ? PyDict_Size(named) : 0;
    if (count == all && count <= table->positional && !by_name) return Py_IncRef(given), given;
    Object *values = count > table->positional ? 0 : PyTuple_New(all);
    for (intptr_t i = 0; values && i < all; i++) {
        Object *name = items_of(table->names)[i];
        Object *value = i < count ? items_of(given)[i]
                                  : named_value(table, name, named, &used);
        if (value) {
            Py_IncRef(value);
            PyTuple_SetItem(values, i, value);
        } else {
            drop(values), values = 0;
        }
    }
    if (used != by_name) drop(values), values = 0; /* one is unknown, or given twice */
    return values;
}

/* Runs a launch of a configuration by the plans of its kernel. */
static int run_configured(Object *self, Object *plans, Object *given, Object *named) {
    Table *table = PyCapsule_GetPointer(plans, 0);
    Launch launch;
    Object *stream = slot(self, places.stream);
    if (!table || !read_launch(slot(self, places.head), stream, &launch)) return FAILED;
    Object *values = values_of(table, given, named);
    int result = values ? run_by(table, &launch, values) : NONE;
    drop(values);
    return result;
}

/* configuration(*arguments, **named): by a plan, or the ordinary way */
static Object *call(Object *self, Object *given, Object *named) {
    Object *launches = slot(self, places.launches); /* null where nobody has called __init__ */
    Object *plans = launches ? slot(launches, places.plans) : 0;
    if (plans && !is_none(plans)) {
        Py_IncRef(plans); /* another thread may make the kernel forget them */
        int result = run_configured(self, plans, given, named);
        Py_DecRef(plans);
        if (result != NONE) return result == RAN ? none() : 0;
    }
    Object *ordinarily = PyObject_GetAttr(self, names.ordinarily);
    Object *done = ordinarily ? PyObject_Call(ordinarily, given, named) : 0;
    drop(ordinarily);
    return done;
}

/* kernel(*arguments): with the grid and block that it was decorated with */
static Object *call_own(Object *self, Object *given, Object *named) {
    Object *own = slot(self, places.own);
    return own ? call(own, given, named) : PyObject_GetAttr(self, names.own); /* which raises */
}

/* Whether a number is one and not what is equal to it: 4.0 is an error. */
static bool is_extent(Object *part) {
    if (is_of(part, &PyLong_Type)) return true;
    if (!is_of(part, &PyTuple_Type)) return false;
    for (intptr_t i = 0; i < count_of(part); i++) {
        if (!is_of(items_of(part)[i], &PyLong_Type)) return false;
    }
    return true;
}

/* Whether keys with the same objects in them are the same, and stay so. */
static bool is_lasting(Object *key) {
    if (!is_of(key, &PyTuple_Type) || count_of(key) < 2 || count_of(key) > 4) return false;
    Object *const *parts = items_of(key);
    if (count_of(key) > 3 && !is_of(parts[3], &PyLong_Type)) return false;
    return is_extent(parts[0]) && is_extent(parts[1]);
}

/* The configuration that is kept under a key; new, and null if there is none. */
static Object *kept(Object *self, Object *key) {
    Object *all = slot(self, places.configured);
    Object *found = all ? PyDict_GetItemWithError(all, key) : 0;
    if (found && count_of(key) > 2) { /* another's stream may be equal to a number */
        Object *stream = items_of(key)[2];
        if (!is_of(stream, &PyLong_Type) && stream != slot(found, places.stream)) found = 0;
    }
    if (found) Py_IncRef(found);
    return found;
}

/* Whether a key has the very objects that another one has, or null. */
static bool is_same(const Object *key, const Object *other) {
    if (!other || count_of(key) != count_of(other)) return false;
    for (intptr_t i = 0; i < count_of(key); i++) {
        if (items_of(key)[i] != items_of(other)[i]) return false;
    }
    return true;
}

static void keep_last(Object *self, Object *key, Object *found) {
    Object *before = exchange(self, places.last, found);
    Object *its_key = exchange(self, places.last_key, key);
    drop(before), drop(its_key);
}

/* kernel[grid, block] and with a stream and a size of shared memory. The last one is found without
 * looking at the numbers, and is kept whatever stream it has. */
static Object *subscript(Object *self, Object *key) {
    bool lasts = is_lasting(key);
    if (lasts && is_same(key, slot(self, places.last_key))) {
        Object *last = slot(self, places.last);
        Py_IncRef(last);
        return last;
    }
    Object *found = lasts ? kept(self, key) : 0;
    if (!found && !is_quiet()) return 0;
    if (!found) found = PyObject_CallMethodObjArgs(self, names.configured, key, (Object *)0);
    if (found && lasts) keep_last(self, key, found);
    return found;
}

/* The classes that give a configuration and a kernel these ways, to come before their own. */
Object *pycu2c_classes(const int64_t *where) {
    Slot of_configurations[] = {{OF_CALLS, (void *)call}, {0, 0}};
    Slot of_kernels[] = {{OF_CALLS, (void *)call_own}, {OF_SUBSCRIPTS, (void *)subscript}, {0, 0}};
    Specification configuration = {"pycu2c.Planned", 0, 0, BASE_OF_OTHERS, of_configurations};
    Specification kernel = {"pycu2c.PlannedKernel", 0, 0, BASE_OF_OTHERS, of_kernels};
    memcpy(&places, where, sizeof places);
    Object *first = PyType_FromSpec(&configuration), *second = PyType_FromSpec(&kernel);
    Object *pair = first && second ? PyTuple_Pack(2, first, second) : 0;
    drop(first), drop(second);
    return pair;
}

/* ---- once in a process ---- */

int pycu2c_begin(int64_t basic_size_of_tuple) {
    end_of_tuple = basic_size_of_tuple;
    return name_all();
}

typedef struct { /* a launch of a graph on the CPU, as in library.py */
    Start start;
    void *body;
    const void *packed;
    int64_t blocks;
} Noted;

/* Runs launches in order; gives how many there were before one that ended early, and its code. */
int64_t pycu2c_in_a_row(const Noted *launches, int64_t count, int64_t *code) {
    int64_t done = 0;
    void *thread = PyEval_SaveThread();
    for (*code = 0; done < count && !*code; done += !*code) {
        const Noted *next = &launches[done];
        *code = next->start(next->body, next->packed, next->blocks);
    }
    PyEval_RestoreThread(thread);
    return done;
}

/* In a kernel's place, for the test at the start: keeps the first bytes of what was packed. */
int pycu2c_plans_keep(void *to, const void *packed, int64_t bytes) {
    memcpy(to, packed, (size_t)bytes);
    return 0;
}
