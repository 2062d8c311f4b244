extern "C" __global__ void transpose(const float *data, int data_shape0, int data_shape1,
                                     float *out, int out_shape0, int out_shape1) {
    __shared__ float tile[8][9];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    long long x = (long long)blockIdx.x * 8 + tx;
    int y = (int)blockIdx.y * 8 + ty;
    if (y < data_shape0 && x < data_shape1) {
        tile[ty][tx] = data[(long long)y * (long long)data_shape1 + x];
    }
    __syncthreads();
    int x_1 = (int)blockIdx.y * 8 + tx;
    long long y_1 = (long long)blockIdx.x * 8 + ty;
    if (y_1 < out_shape0 && x_1 < out_shape1) {
        out[y_1 * out_shape1 + x_1] = tile[tx][ty];
    }
}
