#if __CUDACC_VER_MAJOR__ < 13
typedef double4 double4_16a;
#define make_double4_16a make_double4
#endif

extern "C" __global__ void vector_copy(const double4_16a *source, int source_len,
                                       double4_16a *target, double gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < source_len) {
        double4_16a v = source[i];
        v.w *= gain;
        target[i] = v;
    }
}
