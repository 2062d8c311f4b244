extern "C" __global__ void power_of_two(const float *data, int data_len, float *squares,
                                        float *cubes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < data_len) {
        float base = data[i];
        squares[i] = base * base;
        float base_1 = data[i];
        cubes[i] = base_1 * base_1 * base_1;
    }
}
