/* Plans: what the arguments of a launch have to be, where its numbers go, how it is started. They
 * are made in Python (runtime/plans/plan.py), and come with an object that keeps alive every other
 * that they point to. */

enum { MOST_AXES = 16 }; /* as in limits.py */
enum { MOST_LEAVES = 64, MOST_BYTES = 4096, MOST_PLANS = 16 };
#define INDEX_LIMIT ((int64_t)1 << 30) /* as in analysis/launch_assumptions.py */
#define BLOCKS_LIMIT ((int64_t)1 << 22)
#define MOST_ALONG_Y_AND_Z 65535

enum { /* kinds of guards; their order is that of runtime/plans/guards.py */
    NUMPY,
    OWN,
    INTERFACE,
    ATTRIBUTES,
    WHOLE,
    FLOAT_OF_WHOLE,
    DOUBLE_OF_WHOLE,
    FLOAT_OF_DOUBLE,
    DOUBLE_OF_FLOAT,
    RAW,
    SAME,
    TUPLE
};

/* What an argument, or an item of one, has to be: of the size of a line of the cache, since launches
 * are far between for it. The names are those of Python. */
typedef struct {
    int32_t kind, count; /* arrays: axes; TUPLE: items, which follow; WHOLE: bytes */
    void *type;          /* its class, exactly */
    Object *object;      /* NUMPY, OWN: the dtype; INTERFACE: its typestr; ATTRIBUTES: where to look;
                            SAME: the object itself */
    int32_t mask, flags;     /* arrays */
    int32_t alignment, size; /* arrays: of elements, in bytes; the first is a power of 2 */
    union {
        struct {               /* arrays */
            int32_t trusted;       /* to lie where a kernel may look, and not to be too large */
            int32_t device;        /* OWN: where it has to lie */
            int32_t words, dtype;  /* OWN: the places of two slots */
        };
        struct {
            int64_t least, most; /* WHOLE */
        };
    };
    union {
        Object *current; /* ATTRIBUTES: what gives the stream that the package works in, or None */
        int64_t source;  /* WHOLE: bytes of a number of numpy's, negative if it has a sign;
                            FLOAT_OF_DOUBLE: whether nothing may be rounded */
    };
} Guard;

enum { DATA, SHAPE, STRIDE, VALUE };

typedef struct { /* one parameter of the kernel; of DATA the axis is how many there are */
    int32_t part, leaf, axis, offset, size, divisor;
} Field;

/* A kernel on the CPU, as in pool.c; a code other than 0 is told to Python. */
typedef int (*Start)(void *body, const void *packed, int64_t blocks);
/* On a device: cuLaunchKernel and cuCtxGetCurrent. */
typedef int (*Submit)(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned shared, void *stream, void **parameters, void **extra);
typedef int (*Current)(void **context);

/* Memory of a device and as much of the host, for one launch at a time (runtime/cuda/small_copies.py);
 * with cuMemcpyHtoDAsync, cuMemcpyDtoHAsync and cuStreamSynchronize. */
typedef struct {
    char *device, *host;
    int64_t size, busy;
    int (*copy_in)(uintptr_t to, const void *from, size_t bytes, void *stream);
    int (*copy_out)(void *to, uintptr_t from, size_t bytes, void *stream);
    int (*wait)(void *stream);
} Room;

typedef struct {
    int64_t arguments, guards, leaves, fields, bytes;
    int64_t gaps; /* whether some of the bytes are of no field */
    int64_t block[3], shared; /* a block of 0 threads: any */
    int64_t axes;             /* of the grid, if it follows from the data: then these lengths */
    int64_t lengths[3][2];    /* a leaf, and its axis, or -1: a number */
    int64_t cluster[3];       /* which divides the grid */
    int64_t least, below;     /* of how many blocks a launch has */
    int64_t read, written;    /* leaves, a bit for each: what is written must not disturb what is read */
    int64_t hosts, returned;  /* leaves that are copied to a device, and back */
    union {
        Start start;
        Submit submit;
    };
    void *body;
    Current current; /* null on the CPU */
    void *context;   /* the only one that the plan is for */
    Object *token, *finished;
    Room *room; /* where copies lie */
} Head;

typedef struct {
    Head head;
    const Guard *guards;
    const Field *fields;
    Object *held;
} Plan;

typedef struct {
    Object *kernel;           /* its name */
    Object *names, *defaults; /* of its parameters: a tuple, and a dict by name */
    intptr_t positional;      /* how many parameters may be given by position */
    int count, last;
    Object *latest; /* the token of the plan that ran last, unless it has been taken */
    Plan *plans[MOST_PLANS];
} Table;

typedef union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
} Made;

typedef union { /* what was given */
    struct {    /* an array */
        char *data;
        const int64_t *shape, *strides;
    };
    struct { /* a number */
        const void *bytes;
        Made made;
        int64_t whole;
    };
} Leaf;

/* The shape and strides of a foreign array. */
typedef struct {
    int64_t shape[MOST_AXES], strides[MOST_AXES];
} Kept;

typedef struct { /* what was asked for */
    struct {     /* a kernel for the CPU reads it first */
        int32_t grid[3], block[3];
        int64_t shared;
    } head;
    int64_t stream;
    int64_t in_order; /* whether it and the default stream wait for each other */
    Object *told;   /* the stream, as it was given */
    Kept *kept;          /* of the next foreign array */
    const Object *after; /* of a guard for ATTRIBUTES: it has been asked, and is not waited for */
} Launch;
