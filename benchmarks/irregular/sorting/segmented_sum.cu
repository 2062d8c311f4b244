extern "C" __global__ void segmented_sum(const double *__restrict__ values, int values_len,
                                         const long long *__restrict__ offsets, int offsets_len,
                                         double *__restrict__ sums, int segments)
{
    int segment = blockIdx.x * blockDim.x + threadIdx.x;
    if (segment >= segments)
        return;
    double total = 0.0;
    long long stop = offsets[segment + 1];
    for (long long k = offsets[segment]; k < stop; k++)
        total += values[k];
    sums[segment] = total;
}
