#include "babelStream/cuda/CUDAStream.cu"

#define EXPORT(T, NAME)                                                           \
    extern "C" void copy_##NAME(T *c, const T *a, int n)                          \
    {                                                                             \
        copy_kernel<<<n / TBSIZE, TBSIZE>>>(a, c);                                \
    }                                                                             \
    extern "C" void mul_##NAME(T *b, const T *c, int n)                           \
    {                                                                             \
        mul_kernel<<<n / TBSIZE, TBSIZE>>>(b, c);                                 \
    }                                                                             \
    extern "C" void add_##NAME(T *c, const T *a, const T *b, int n)               \
    {                                                                             \
        add_kernel<<<n / TBSIZE, TBSIZE>>>(a, b, c);                              \
    }                                                                             \
    extern "C" void triad_##NAME(T *a, const T *b, const T *c, int n)             \
    {                                                                             \
        triad_kernel<<<n / TBSIZE, TBSIZE>>>(a, b, c);                            \
    }                                                                             \
    extern "C" void dot_##NAME(T *sums, const T *a, const T *b, int n, int blocks) \
    {                                                                             \
        dot_kernel<<<blocks, TBSIZE>>>(a, b, sums, n);                            \
    }

EXPORT(float, float32)
EXPORT(double, float64)
