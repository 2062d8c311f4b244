extern "C" __global__ void collatz(const int *numbers, int numbers_len, int *steps, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numbers_len) return;
    int n = numbers[i];
    int taken = 0;
    while (n != 1 && taken < limit) {
        n = (n & 1) == 0 ? n >> 1 : (int)(3 * (unsigned int)n + 1);
        taken += 1;
    }
    steps[i] = taken;
}
