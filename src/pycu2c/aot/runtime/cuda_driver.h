/* Load and launch kernels with the CUDA driver API. The driver library is loaded at run time.
 *
 * PYCU2C_IMAGES names the file with the compiled kernels, `images`. The driver must be 12.0 or later.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;

enum {
    CUDA_OUT_OF_MEMORY = 2,
    COMPUTE_MAJOR = 75, /* attributes of devices */
    COMPUTE_MINOR = 76,
    MAX_DYNAMIC_SHARED = 8, /* attribute of kernels */
    RELAXED_CAPTURE = 2,    /* a mode of stream captures */
    LEGACY_STREAM = 1,      /* 0 is the default stream that synchronizes with the others */
    MAX_DEVICES = 64
};

/* The kernels: a cubin for devices of one major compute capability, or PTX. */
struct image {
    const unsigned char *data;
    size_t size;
    int compute_capability; /* 90 for sm_90 */
    bool is_ptx;
};
#include PYCU2C_IMAGES
enum { IMAGE_COUNT = sizeof images / sizeof *images };

/* A kernel of an image, which is loaded at its first launch. */
typedef _Atomic(CUkernel) loaded_function;

static struct {
    CUresult (*init)(unsigned);
    CUresult (*get_error_name)(CUresult, const char **);
    CUresult (*get_current)(CUcontext *);
    CUresult (*push_current)(CUcontext);
    CUresult (*pop_current)(CUcontext *);
    CUresult (*get_device)(CUdevice *);
    CUresult (*retain_primary)(CUcontext *, CUdevice);
    CUresult (*get_attribute)(int *, int, CUdevice);
    CUresult (*get_count)(int *);
    CUresult (*load_library)(CUlibrary *, const void *, void *, void *, unsigned, void *, void *,
                             unsigned);
    CUresult (*get_kernel)(CUkernel *, CUlibrary, const char *);
    CUresult (*set_attribute)(int, int, CUkernel, CUdevice);
    CUresult (*launch)(CUkernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, void *, void **, void **);
    CUresult (*launch_cooperative)(CUkernel, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, void *, void **);
    CUresult (*exchange_capture_mode)(int *);
} cuda;

static pthread_once_t cuda_once = PTHREAD_ONCE_INIT;
static const char *missing = NULL; /* why the driver is not available */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static void load_driver(void) {
    typedef CUresult lookup(const char *, void **, int, uint64_t, int *);
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cuInit", &cuda.init},
        {"cuGetErrorName", &cuda.get_error_name},
        {"cuCtxGetCurrent", &cuda.get_current},
        {"cuCtxPushCurrent", &cuda.push_current},
        {"cuCtxPopCurrent", &cuda.pop_current},
        {"cuCtxGetDevice", &cuda.get_device},
        {"cuDevicePrimaryCtxRetain", &cuda.retain_primary},
        {"cuDeviceGetAttribute", &cuda.get_attribute},
        {"cuDeviceGetCount", &cuda.get_count},
        {"cuLibraryLoadData", &cuda.load_library},
        {"cuLibraryGetKernel", &cuda.get_kernel},
        {"cuKernelSetAttribute", &cuda.set_attribute},
        {"cuLaunchKernel", &cuda.launch},
        {"cuLaunchCooperativeKernel", &cuda.launch_cooperative},
        {"cuThreadExchangeStreamCaptureMode", &cuda.exchange_capture_mode},
    };
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    missing = "libcuda.so.1, the driver of NVIDIA GPUs, is not installed";
    if (!library) return;
    missing = "the driver of NVIDIA GPUs is older than 12.0";
    void *const address = dlsym(library, "cuGetProcAddress_v2");
    lookup *get_address;
    memcpy(&get_address, &address, sizeof address);
    if (!get_address) return;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (get_address(functions[i].name, functions[i].function, 12000, LEGACY_STREAM, NULL))
            return;
    int count = 0;
    missing = "there is no NVIDIA GPU, or its driver does not start";
    if (cuda.init(0) || cuda.get_count(&count) || count == 0) return;
    missing = NULL;
}

static pycu2c_status cuda_failure(const char *doing, CUresult code) {
    const char *name = NULL;
    if (cuda.get_error_name(code, &name) || !name) name = "an unknown error";
    return fail(code == CUDA_OUT_OF_MEMORY ? PYCU2C_OUT_OF_MEMORY : PYCU2C_CUDA_ERROR,
                "the driver cannot %s: %s", doing, name);
}

/* Make a context of the device current. pushed: whether leave_device must pop it. */
static pycu2c_status enter_device(int ordinal, bool *pushed) {
    CUcontext context = NULL;
    CUdevice current = -1;
    int count = 0;
    *pushed = false;
    pthread_once(&cuda_once, load_driver);
    if (missing) return fail(PYCU2C_UNSUPPORTED_DEVICE, "%s", missing);
    CUresult code = cuda.get_current(&context);
    if (!code && context) code = cuda.get_device(&current);
    if (code) return cuda_failure("query the current context", code);
    if (current == ordinal) return PYCU2C_SUCCESS;
    if (cuda.get_count(&count) || ordinal < 0 || ordinal >= count || ordinal >= MAX_DEVICES)
        return fail(PYCU2C_UNSUPPORTED_DEVICE, "there is no GPU %d", ordinal);
    code = cuda.retain_primary(&context, ordinal); /* as long as the process runs */
    if (!code) code = cuda.push_current(context);
    if (code) return cuda_failure("create a context", code);
    *pushed = true;
    return PYCU2C_SUCCESS;
}

static void leave_device(bool pushed) {
    CUcontext context;
    if (pushed) cuda.pop_current(&context);
}

/* Return the number of the image for a device, from 1; 0 if there is none. */
static int find_image(CUdevice device) {
    int major = 0, minor = 0, best = 0;
    cuda.get_attribute(&major, COMPUTE_MAJOR, device);
    cuda.get_attribute(&minor, COMPUTE_MINOR, device);
    for (int i = 0; i < IMAGE_COUNT; i++) {
        const int capability = images[i].compute_capability;
        const bool fits = images[i].is_ptx || capability / 10 == major;
        if (!fits || capability > 10 * major + minor) continue;
        if (best && images[i].is_ptx && !images[best - 1].is_ptx) continue;
        if (!best || images[best - 1].is_ptx != images[i].is_ptx
            || capability > images[best - 1].compute_capability)
            best = i + 1;
    }
    return best;
}

/* Return the number of the image for a device. The result is cached. */
static int image_of(int ordinal) {
    static _Atomic(int) numbers[MAX_DEVICES]; /* -1: none */
    _Atomic(int) *const found = &numbers[ordinal];
    int number = atomic_load_explicit(found, memory_order_relaxed);
    if (number) return number < 0 ? 0 : number;
    number = find_image(ordinal);
    atomic_store_explicit(found, number ? number : -1, memory_order_relaxed);
    return number;
}

/* Load a kernel, also while the thread captures the launch in a graph. */
static pycu2c_status load_function(int image, const char *entry, loaded_function *loaded) {
    static CUlibrary libraries[IMAGE_COUNT];
    CUresult code = 0;
    CUkernel kernel = NULL;
    int capture_mode = RELAXED_CAPTURE;
    pthread_mutex_lock(&loading);
    cuda.exchange_capture_mode(&capture_mode);
    if (!libraries[image])
        code = cuda.load_library(&libraries[image], images[image].data, NULL, NULL, 0, NULL, NULL, 0);
    if (!code) code = cuda.get_kernel(&kernel, libraries[image], entry);
    if (!code) atomic_store_explicit(loaded, kernel, memory_order_release);
    cuda.exchange_capture_mode(&capture_mode);
    pthread_mutex_unlock(&loading);
    return code ? cuda_failure("load the kernel", code) : PYCU2C_SUCCESS;
}

struct gpu_launch {
    const char *entry;
    loaded_function *loaded; /* IMAGE_COUNT of them */
    pycu2c_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
    void **parameters;
    bool is_cooperative;
};

static pycu2c_status launch_on_current(const struct gpu_launch *l, int ordinal) {
    const int image = image_of(ordinal) - 1;
    if (image < 0)
        return fail(PYCU2C_UNSUPPORTED_DEVICE, "the library has no code for GPU %d", ordinal);
    if (!atomic_load_explicit(&l->loaded[image], memory_order_acquire)) {
        const pycu2c_status status = load_function(image, l->entry, &l->loaded[image]);
        if (status) return status;
    }
    const CUkernel kernel = atomic_load_explicit(&l->loaded[image], memory_order_acquire);
    const pycu2c_dim3 g = l->grid, b = l->block;
    const unsigned shared = (unsigned)l->shared_bytes;
    CUresult code = 0;
    if (shared > 48 * 1024) code = cuda.set_attribute(MAX_DYNAMIC_SHARED, (int)shared, kernel, ordinal);
    if (code) return cuda_failure("reserve so much shared memory", code);
    if (l->is_cooperative)
        code = cuda.launch_cooperative(kernel, g.x, g.y, g.z, b.x, b.y, b.z, shared, l->stream,
                                       l->parameters);
    else
        code = cuda.launch(kernel, g.x, g.y, g.z, b.x, b.y, b.z, shared, l->stream, l->parameters,
                           NULL);
    return code ? cuda_failure("launch the kernel", code) : PYCU2C_SUCCESS;
}

static pycu2c_status launch_function(const struct gpu_launch *l, int ordinal) {
    bool pushed;
    pycu2c_status status = enter_device(ordinal, &pushed);
    if (!status) status = launch_on_current(l, ordinal);
    leave_device(pushed);
    return status;
}
