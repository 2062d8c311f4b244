typedef uint16_t bfloat16;
static inline float float32_from_bfloat16(bfloat16 x) {
    union { uint32_t bits; float value; } out = {(uint32_t)x << 16};
    return out.value;
}
static inline bfloat16 bfloat16_from_float(float x) {
    union { float value; uint32_t bits; } in = {x};
    if (x != x) return (bfloat16)(in.bits >> 16 | 0x40);
    return (bfloat16)((in.bits + 0x7fff + (in.bits >> 16 & 1)) >> 16);
}
static inline bfloat16 bfloat16_from_double(double x) {
    union { float value; uint32_t bits; } nearest = {(float)x};
    if (fabs((double)nearest.value) > fabs(x)) nearest.bits -= 1;
    if ((double)nearest.value != x && x == x) nearest.bits |= 1;  // rounded to odd
    return bfloat16_from_float(nearest.value);
}
