__device__ void acquire(long long *lock) {
    while ((long long)atomicCAS((unsigned long long *)&lock[0], 0ULL, 1ULL) != 0) {
        __nanosleep(100);
    }
    __threadfence();
}

__device__ void release(long long *lock) {
    __threadfence();
    atomicExch((unsigned long long *)&lock[0], 0ULL);
}

extern "C" __global__ void spin_lock(long long *lock, long long *total, const long long *data,
                                     int data_len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= data_len) return;
    long long value = data[i];
    if (value > 0) {
        acquire(lock);
        total[0] += (unsigned long long)value;
        total[1] = max(total[1], value);
        release(lock);
    }
}
