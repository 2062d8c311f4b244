#ifdef __FLT16_MAX__
typedef _Float16 float16;
static inline float float32_from_float16(float16 x) { return (float)x; }
static inline float16 float16_from_float(float x) { return (float16)x; }
static inline float16 float16_from_double(double x) { return (float16)x; }
#else
typedef uint16_t float16;
static inline float float32_from_float16(float16 x) {
    union { uint32_t bits; float value; } out;
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, magnitude = x & 0x7fff;
    if (magnitude < 0x400) return (sign ? -1.0f : 1.0f) * (float)magnitude / 16777216.0f;
    const uint32_t shifted = magnitude << 13;
    out.bits = sign | (magnitude < 0x7c00 ? shifted + 0x38000000 : shifted | 0x7f800000);
    return out.value;
}
static inline float16 float16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    const uint32_t sign = in.bits >> 16 & 0x8000, magnitude = in.bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (float16)(sign | 0x7e00);
    if (magnitude >= 0x47800000) return (float16)(sign | 0x7c00);
    if (magnitude < 0x38800000) return (float16)(sign | (uint32_t)rintf(fabsf(x) * 16777216.0f));
    return (float16)(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}
static inline float16 float16_from_double(double x) {
    union { float value; uint32_t bits; } nearest = {(float)x};
    if (fabs((double)nearest.value) > fabs(x)) nearest.bits -= 1;
    if ((double)nearest.value != x) nearest.bits |= 1;  // to odd, so that the next rounding is right
    return float16_from_float(nearest.value);
}
#endif
