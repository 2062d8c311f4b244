// Each block has one thread, which scans a contiguous piece.
extern "C" __global__ void ${name}_totals(
    const scan_type *input, long n, long piece, scan_type *totals)
{
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type total = input[first];
    for (long i = first + 1; i < end; i++) total = combine_(total, input[i]);
    totals[blockIdx.x] = total;
}

extern "C" __global__ void ${name}_update(
    const scan_type *input, long n, long piece, const scan_type *totals, scan_type *output)
{
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type sum = ${neutral};
    bool has_prefix = EXCLUSIVE_;
    for (unsigned int k = 0; k < blockIdx.x; k++, has_prefix = true)
        sum = has_prefix ? combine_(sum, totals[k]) : totals[k];
    for (long i = first; i < end; i++, has_prefix = true) {
        const scan_type value = input[i], next = has_prefix ? combine_(sum, value) : value;
        output[i] = EXCLUSIVE_ ? sum : next;
        sum = next;
    }
}
