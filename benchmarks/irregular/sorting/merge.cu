extern "C" __global__ void merge(const int *__restrict__ a, int a_len, const int *__restrict__ b,
                                 int b_len, int *__restrict__ out, int n, int piece)
{
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * piece;
    if (start >= n)
        return;
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
