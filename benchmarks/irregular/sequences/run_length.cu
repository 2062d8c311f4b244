extern "C" __global__ void run_length(const unsigned char *__restrict__ values, int n,
                                      int *__restrict__ lengths, int lengths_len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char value = values[i];
    int length = 0;
    if (i == 0 || value != values[i - 1]) {
        int end = i + 1;
        while (end < n && values[end] == value)
            end++;
        length = end - i;
    }
    lengths[i] = length;
}
