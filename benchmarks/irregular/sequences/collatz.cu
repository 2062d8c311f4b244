extern "C" __global__ void collatz(int *steps, int starts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= starts)
        return;
    unsigned long long n = i + 1;
    int count = 0;
    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        count++;
    }
    steps[i] = count;
}
