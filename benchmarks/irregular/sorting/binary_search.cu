extern "C" __global__ void binary_search(const float *__restrict__ table, int table_len,
                                         const float *__restrict__ queries, int queries_len,
                                         int *__restrict__ positions, int positions_len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries_len)
        return;
    float query = queries[i];
    int low = 0, high = table_len;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (table[middle] < query)
            low = middle + 1;
        else
            high = middle;
    }
    positions[i] = low;
}
