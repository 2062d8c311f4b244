// What benchmarks/cpu.py calls: plain C, parallel by OpenMP. One function in each file NAME.c.
// Schedules are dynamic: a core that others use too then delays nobody.
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
