void binary_search(const float *restrict table, int table_len, const float *restrict queries,
                   int queries_len, int *restrict positions, int positions_len)
{
#pragma omp parallel for
    for (int i = 0; i < queries_len; i++) {
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
}
