${header}${preamble}
#define THREADS_ ${threads}
#define ITEMS_PER_THREAD_ ${items_per_thread}
#define EXCLUSIVE_ ${exclusive}
typedef ${scan_type} scan_type;
static __device__ __forceinline__ scan_type combine_(scan_type a, scan_type b)
{
    return ${scan_expr};
}
