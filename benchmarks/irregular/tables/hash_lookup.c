enum { EMPTY = -1 };

void hash_lookup(const int *restrict queries, int queries_len, const int *restrict table, int size,
                 const int *restrict values, int values_len, int *restrict found, int found_len)
{
    const unsigned mask = size - 1;
#pragma omp parallel for
    for (int i = 0; i < queries_len; i++) {
        int key = queries[i], value = -1;
        unsigned slot = ((unsigned)(key ^ (key >> 15)) * 0x2C1B3C6Du) & mask;
        while (table[slot] != EMPTY) {
            if (table[slot] == key) {
                value = values[slot];
                break;
            }
            slot = (slot + 1) & mask;
        }
        found[i] = value;
    }
}
