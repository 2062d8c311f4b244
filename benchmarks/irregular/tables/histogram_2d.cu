extern "C" __global__ void histogram_2d(const float *__restrict__ xs, int xs_len,
                                        const float *__restrict__ ys, int ys_len, int *counts,
                                        int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= xs_len)
        return;
    int row = min((int)(ys[i] * rows), rows - 1);
    int column = min((int)(xs[i] * columns), columns - 1);
    atomicAdd(counts + row * columns + column, 1);
}
