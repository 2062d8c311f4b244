extern "C" __global__ void string_search(const unsigned char *__restrict__ text, int n,
                                         const unsigned char *__restrict__ pattern,
                                         int pattern_len, unsigned char *__restrict__ found,
                                         int found_len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + pattern_len > n)
        return;
    int k = 0;
    while (k < pattern_len && text[i + k] == pattern[k])
        k++;
    found[i] = k == pattern_len;
}
