#define EMPTY (-1)

extern "C" __global__ void hash_insert(const int *__restrict__ keys, int keys_len, int *table,
                                       int size, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int key = keys[i];
    unsigned mask = size - 1;
    unsigned slot = ((unsigned)(key ^ (key >> 15)) * 0x2C1B3C6Du) & mask;
    for (;;) {
        int old = atomicCAS(table + slot, EMPTY, key);
        if (old == EMPTY || old == key)
            break;
        slot = (slot + 1) & mask;
    }
}
