// The thread's number in its warp.
__device__ __forceinline__ int laneid_i32() {
    unsigned int value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    return (int)value;
}

// The bits of the lanes below the thread's own.
__device__ __forceinline__ int lanemask_lt_i32() {
    unsigned int value;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(value));
    return (int)value;
}

extern "C" __global__ void ballot_compact(const int *a, int a_len, int *out, int out_len,
                                          int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long kept = __ballot_sync(0xffffffff, i < a_len && a[i] > 0);
    int first = i - laneid_i32();
    if (((kept >> (long long)laneid_i32()) & 1) != 0) {
        int at = first + __popcll(kept & lanemask_lt_i32());
        out[at < 0 ? at + out_len : at] = a[i];
    }
    if (laneid_i32() == 0) {
        count[first / 32] = __popcll(kept);
    }
}
