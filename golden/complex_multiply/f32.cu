__device__ float real_part(float ar, float ai, float br, float bi) {
    return ar * br - ai * bi;
}

__device__ float imaginary_part(float ar, float ai, float br, float bi) {
    return ar * bi + ai * br;
}

__device__ float squared_length(float re, float im) {
    return real_part(re, im, re, -im);
}

extern "C" __global__ void complex_multiply(const float *a, int a_shape0, int a_shape1,
                                            const float *b, int b_shape1, float *out,
                                            int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_shape0) {
        int at = i * a_shape1;
        int at_1 = i * b_shape1;
        float re = real_part(a[at], a[at + 1], b[at_1], b[at_1 + 1]);
        float im = imaginary_part(a[at], a[at + 1], b[at_1], b[at_1 + 1]);
        int at_2 = i * out_shape1;
        out[at_2] = re;
        out[at_2 + 1] = im;
        out[at_2 + 2] = squared_length(re, im) - squared_length(a[at], a[at + 1]);
    }
}
