#define TILE 16

// square matrices whose size is a multiple of TILE
extern "C" __global__ void matmul(float *c, const float *__restrict__ a, const float *__restrict__ b,
                                  int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float total = 0.0f;
    for (int step = 0; step < n / TILE; step++) {
        tile_a[ty][tx] = a[row * n + step * TILE + tx];
        tile_b[ty][tx] = b[(step * TILE + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            total += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    c[row * n + column] = total;
}
