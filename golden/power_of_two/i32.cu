extern "C" __global__ void power_of_two(const int *data, int data_len, int *squares, int *cubes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < data_len) {
        int base = data[i];
        squares[i] = (unsigned int)base * base;
        int base_1 = data[i];
        cubes[i] = (unsigned int)base_1 * base_1 * base_1;
    }
}
