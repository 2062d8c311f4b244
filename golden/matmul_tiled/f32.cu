extern "C" __global__ void matmul_tiled(const float *a, int a_shape0, int a_shape1, const float *b,
                                        int b_shape1, float *c, int c_shape0, int c_shape1) {
    __shared__ float tile_a[16][16];
    __shared__ float tile_b[16][16];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int inner = a_shape1;
    float total = 0.0f;
    for (int start = 0; start < inner; start += 16) {
        if (row < a_shape0 && start + tx < inner) {
            tile_a[ty][tx] = a[row * inner + start + tx];
        } else {
            tile_a[ty][tx] = 0.0f;
        }
        if (start + ty < inner && column < b_shape1) {
            tile_b[ty][tx] = b[(start + ty) * b_shape1 + column];
        } else {
            tile_b[ty][tx] = 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            total += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }
    if (row < c_shape0 && column < c_shape1) {
        c[row * c_shape1 + column] = total;
    }
}
