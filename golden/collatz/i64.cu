extern "C" __global__ void collatz(const long long *numbers, int numbers_len, int *steps,
                                   int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numbers_len) return;
    long long n = numbers[i];
    int taken = 0;
    while (n != 1 && taken < limit) {
        n = (n & 1) == 0 ? n >> 1 : (long long)(3 * (unsigned long long)n + 1);
        taken += 1;
    }
    steps[i] = taken;
}
