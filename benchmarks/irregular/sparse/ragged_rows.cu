extern "C" __global__ void ragged_rows(const float *__restrict__ values, int values_len,
                                       const int *__restrict__ offsets, int offsets_len,
                                       float *__restrict__ maxima, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    int start = offsets[i], stop = offsets[i + 1];
    float largest = start < stop ? values[start] : 0.0f;
    for (int k = start + 1; k < stop; k++)
        largest = values[k] > largest ? values[k] : largest;
    maxima[i] = largest;
}
