__device__ double real_part(float ar, float ai, double br, double bi) {
    return ar * br - ai * bi;
}

__device__ double imaginary_part(float ar, float ai, double br, double bi) {
    return ar * bi + ai * br;
}

__device__ double real_part_1(double ar, double ai, double br, double bi) {
    return ar * br - ai * bi;
}

__device__ double squared_length(double re, double im) {
    return real_part_1(re, im, re, -im);
}

__device__ float real_part_2(float ar, float ai, float br, float bi) {
    return ar * br - ai * bi;
}

__device__ float squared_length_1(float re, float im) {
    return real_part_2(re, im, re, -im);
}

extern "C" __global__ void complex_multiply(const float *a, int a_shape0, int a_shape1,
                                            const double *b, int b_shape1, double *out,
                                            int out_shape1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_shape0) {
        int at = i * a_shape1;
        int at_1 = i * b_shape1;
        double re = real_part(a[at], a[at + 1], b[at_1], b[at_1 + 1]);
        double im = imaginary_part(a[at], a[at + 1], b[at_1], b[at_1 + 1]);
        int at_2 = i * out_shape1;
        out[at_2] = re;
        out[at_2 + 1] = im;
        out[at_2 + 2] = squared_length(re, im) - squared_length_1(a[at], a[at + 1]);
    }
}
