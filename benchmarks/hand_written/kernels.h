// The functions that benchmarks/cpu.py calls: C, parallel by OpenMP, one function per file NAME.c.
// Schedules are dynamic, so that a core that other processes use does not delay the others.
void saxpy(float *out, const float *x, const float *y, float a, int64_t n);
void stencil(float *out, const float *a, int64_t rows, int64_t columns);
void mandelbrot(int32_t *out, float left, float top, float step, int32_t limit, int64_t rows, int64_t columns);
void nbody(float *out, const float *x, const float *y, const float *z, const float *mass, float softening, int64_t n);
void matmul(float *c, const float *a, const float *b, int64_t n);
void block_sum(float *out, const float *x, int64_t n);
void block_scan(float *out, const float *x, int64_t n);
void histogram(int32_t *counts, const uint8_t *x, int64_t n);
void black_scholes(float *call, float *put, const float *price, const float *strike, const float *years, float rate, float volatility, int64_t n);
void tiny(float *out, const float *x, float a);
