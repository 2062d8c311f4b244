enum { EMPTY = -1 };

void hash_insert(const int *restrict keys, int keys_len, int *restrict table, int size, int n)
{
    const unsigned mask = size - 1;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int key = keys[i];
        unsigned slot = ((unsigned)(key ^ (key >> 15)) * 0x2C1B3C6Du) & mask;
        for (;;) {
            int old = EMPTY;
            if (__atomic_compare_exchange_n(table + slot, &old, key, 0, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED) ||
                old == key)
                break;
            slot = (slot + 1) & mask;
        }
    }
}
