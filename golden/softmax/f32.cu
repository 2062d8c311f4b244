// max(a, b) as in Python: a unless b > a.
__device__ __forceinline__ float max_f32(float a, float b) {
    return b > a ? b : a;
}

extern "C" __global__ void softmax(const float *logits, int logits_shape1, float *out,
                                   int out_shape1) {
    __shared__ float partial[32];
    int row = blockIdx.x;
    int tid = threadIdx.x;
    int columns = logits_shape1;
    float greatest = -__int_as_float(0x7f800000);
    for (int column = tid; column < columns; column += 32) {
        greatest = max_f32(greatest, logits[row * columns + column]);
    }
    partial[tid] = greatest;
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
        greatest = max_f32(greatest, partial[k]);
    }
    __syncthreads();
    float total = 0.0f;
    for (int column = tid; column < columns; column += 32) {
        total += expf(logits[row * columns + column] - greatest);
    }
    partial[tid] = total;
    __syncthreads();
    total = 0.0f;
    for (int k = 0; k < 32; ++k) {
        total += partial[k];
    }
    for (int column = tid; column < columns; column += 32) {
        out[row * out_shape1 + column] = expf(logits[row * columns + column] - greatest) / total;
    }
}
