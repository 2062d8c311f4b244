#define SAMPLES 32

extern "C" __global__ void quantile(const float *__restrict__ samples, int rows, int columns,
                                    int rank, float *__restrict__ out, int out_len)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float values[SAMPLES];
    for (int k = 0; k < SAMPLES; k++)
        values[k] = samples[row * SAMPLES + k];
    int left = 0, right = SAMPLES - 1;
    while (left < right) {
        float pivot = values[rank];
        int i = left, j = right;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i <= j) {
                float swapped = values[i];
                values[i++] = values[j];
                values[j--] = swapped;
            }
        }
        if (j < rank)
            left = i;
        if (rank < i)
            right = j;
    }
    out[row] = values[rank];
}
