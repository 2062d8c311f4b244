#define EMPTY (-1)

extern "C" __global__ void hash_lookup(const int *__restrict__ queries, int queries_len,
                                       const int *__restrict__ table, int size,
                                       const int *__restrict__ values, int values_len,
                                       int *__restrict__ found, int found_len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries_len)
        return;
    int key = queries[i], value = -1;
    unsigned mask = size - 1;
    unsigned slot = ((unsigned)(key ^ (key >> 15)) * 0x2C1B3C6Du) & mask;
    int entry;
    while ((entry = table[slot]) != EMPTY) {
        if (entry == key) {
            value = values[slot];
            break;
        }
        slot = (slot + 1) & mask;
    }
    found[i] = value;
}
