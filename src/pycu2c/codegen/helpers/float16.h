#ifdef __FLT16_MAX__
typedef _Float16 float16;
static inline float float32_from_float16(float16 x) { return (float)x; }
static inline float16 float16_from_float(float x) { return (float16)x; }
static inline float16 float16_from_double(double x) { return (float16)x; }
#else
typedef uint16_t float16;
static inline float float32_from_float16(float16 x) {
    union { uint32_t bits; float value; } out;
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, size = x & 0x7fff;
    if (size < 0x400) return (sign ? -1.0f : 1.0f) * (float)size / 16777216.0f;
    out.bits = sign | (size < 0x7c00 ? (size << 13) + 0x38000000 : (size << 13) | 0x7f800000);
    return out.value;
}
static inline float16 float16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    const uint32_t sign = in.bits >> 16 & 0x8000, size = in.bits & 0x7fffffff;
    if (size > 0x7f800000) return (float16)(sign | 0x7e00);
    if (size >= 0x47800000) return (float16)(sign | 0x7c00);
    if (size < 0x38800000) return (float16)(sign | (uint32_t)rintf(fabsf(x) * 16777216.0f));
    return (float16)(sign | (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
}
static inline float16 float16_from_double(double x) {
    union { float value; uint32_t bits; } near = {(float)x};
    if (fabs((double)near.value) > fabs(x)) near.bits -= 1;
    if ((double)near.value != x) near.bits |= 1;  // rounded to odd, so that once more is right
    return float16_from_float(near.value);
}
#endif
