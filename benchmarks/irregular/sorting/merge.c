static inline int max(int a, int b) { return a > b ? a : b; }
static inline int min(int a, int b) { return a < b ? a : b; }

void merge(const int *restrict a, int a_len, const int *restrict b, int b_len, int *restrict out,
           int n, int piece)
{
#pragma omp parallel for
    for (int start = 0; start < n; start += piece) {
        int low = max(0, start - b_len), high = min(start, a_len);
        while (low < high) {
            int middle = (low + high) / 2;
            if (a[middle] <= b[start - middle - 1])
                low = middle + 1;
            else
                high = middle;
        }
        int i = low, j = start - low, stop = min(start + piece, n);
        for (int k = start; k < stop; k++) {
            if (j >= b_len || (i < a_len && a[i] <= b[j]))
                out[k] = a[i++];
            else
                out[k] = b[j++];
        }
    }
}
