extern "C" __global__ void strided_copy(const float *source, int source_stride0, int source_stride1,
                                        float *target, int target_shape0, int target_shape1,
                                        int target_stride0, int target_stride1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < target_shape1 && y < target_shape0) {
        target[y * target_stride0 + x * target_stride1] = source[y * source_stride0 + x * source_stride1];
    }
}
