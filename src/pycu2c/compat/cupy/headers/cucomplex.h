// The names of cuComplex.h for the class of complex.h, for ``translate_cucomplex``. They are
// macros, because a text for the CPU also has the functions of cuComplex.h.
#define cuFloatComplex complex<float>
#define cuComplex complex<float>
#define cuDoubleComplex complex<double>
#define make_cuFloatComplex(x, y) complex<float>((x), (y))
#define make_cuComplex(x, y) complex<float>((x), (y))
#define make_cuDoubleComplex(x, y) complex<double>((x), (y))
#define cuComplexFloatToDouble(z) complex<double>(z)
#define cuComplexDoubleToFloat(z) complex<float>(z)
#define cuCreal(z) real(z)
#define cuCrealf(z) real(z)
#define cuCimag(z) imag(z)
#define cuCimagf(z) imag(z)
#define cuCabs(z) abs(z)
#define cuCabsf(z) abs(z)
#define cuConj(z) conj(z)
#define cuConjf(z) conj(z)
#define cuCadd(a, b) ((a) + (b))
#define cuCaddf(a, b) ((a) + (b))
#define cuCsub(a, b) ((a) - (b))
#define cuCsubf(a, b) ((a) - (b))
#define cuCmul(a, b) ((a) * (b))
#define cuCmulf(a, b) ((a) * (b))
#define cuCdiv(a, b) ((a) / (b))
#define cuCdivf(a, b) ((a) / (b))
#define cuCfma(a, b, c) ((a) * (b) + (c))
#define cuCfmaf(a, b, c) ((a) * (b) + (c))
