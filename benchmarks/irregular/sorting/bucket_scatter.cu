extern "C" __global__ void bucket_scatter(const unsigned *__restrict__ keys, int n,
                                          const int *__restrict__ values, int values_len,
                                          int *__restrict__ cursors, int buckets,
                                          unsigned *__restrict__ out_keys, int out_keys_len,
                                          int *__restrict__ out_values, int out_values_len,
                                          unsigned shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i];
    int at = atomicAdd(&cursors[key >> shift], 1);
    out_keys[at] = key;
    out_values[at] = values[i];
}
