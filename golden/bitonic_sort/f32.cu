extern "C" __global__ void bitonic_sort(float *data) {
    __shared__ float mine[32];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[tid] = data[i];
    __syncthreads();
    int size = 2;
    while (size <= 32) {
        int stride = size / 2;
        while (stride > 0) {
            int partner = tid ^ stride;
            if (partner > tid) {
                float a = mine[tid];
                float b = mine[partner];
                bool ascending = (tid & size) == 0;
                if ((a > b) == ascending) {
                    mine[tid] = b;
                    mine[partner] = a;
                }
            }
            __syncthreads();
            stride /= 2;
        }
        size *= 2;
    }
    data[i] = mine[tid];
}
