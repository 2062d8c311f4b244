extern "C" __global__ void transpose(const float *data, int data_shape0, int data_shape1,
                                     float *out, int out_shape0, int out_shape1) {
    __shared__ float tile[8][9];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int x = blockIdx.x * 8 + tx;
    int y = blockIdx.y * 8 + ty;
    if (y < data_shape0 && x < data_shape1) {
        tile[ty][tx] = data[y * data_shape1 + x];
    }
    __syncthreads();
    x = blockIdx.y * 8 + tx;
    y = blockIdx.x * 8 + ty;
    if (y < out_shape0 && x < out_shape1) {
        out[y * out_shape1 + x] = tile[tx][ty];
    }
}
