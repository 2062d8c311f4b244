// The thread's number in its warp.
__device__ __forceinline__ int laneid_i32() {
    unsigned int value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    return (int)value;
}

__device__ float summed(float x) {
    x += __shfl_down_sync(0xffffffff, x, 16);
    x += __shfl_down_sync(0xffffffff, x, 8);
    x += __shfl_down_sync(0xffffffff, x, 4);
    x += __shfl_down_sync(0xffffffff, x, 2);
    x += __shfl_down_sync(0xffffffff, x, 1);
    return x;
}

extern "C" __global__ void warp_sum(const float *a, int a_len, float *out) {
    __shared__ float sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int warp = (int)threadIdx.x / 32;
    float x = summed(i < a_len ? a[i] : 0.0f);
    if (laneid_i32() == 0) {
        sums[warp] = x;
    }
    __syncthreads();
    if (warp == 0) {
        x = summed(laneid_i32() < (int)blockDim.x / 32 ? sums[laneid_i32()] : 0.0f);
        if (laneid_i32() == 0) {
            atomicAdd(&out[0], x);
        }
    }
}
