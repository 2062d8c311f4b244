// The thread's number in its warp.
__device__ __forceinline__ int laneid_i32() {
    unsigned int value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    return (int)value;
}

// The greatest over the lanes of mask.
__device__ __forceinline__ int reduce_max_i32(unsigned int mask, int value) {
#if __CUDA_ARCH__ >= 800
    return (int)__reduce_max_sync(mask, value);
#else
    unsigned int rest = __ballot_sync(mask, 1);
    int a = value, b;
    if (rest == 0xffffffff) {
        for (int step = 16; step > 0; step /= 2) {
            b = __shfl_xor_sync(mask, a, step);
            a = b > a ? b : a;
        }
        return a;
    }
    a = __shfl_sync(mask, value, __ffs(rest) - 1);
    while (rest &= rest - 1) {
        b = __shfl_sync(mask, value, __ffs(rest) - 1);
        a = b > a ? b : a;
    }
    return a;
#endif
}

extern "C" __global__ void warp_halves(const int *a, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = a[i];
    if (laneid_i32() < 16) {
        x += (unsigned int)__shfl_xor_sync(0x0000ffff, x, 8);
        x += (unsigned int)__shfl_xor_sync(0x0000ffff, x, 4);
        x += (unsigned int)__shfl_xor_sync(0x0000ffff, x, 2);
        x += (unsigned int)__shfl_xor_sync(0x0000ffff, x, 1);
    } else if (__any_sync(0xffff0000, x > 40) != 0) {
        x = reduce_max_i32(0xffff0000, x);
    }
    out[i] = x;
}
