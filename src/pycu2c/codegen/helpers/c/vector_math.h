// Math functions by arithmetic alone, so that loops with them are vectorized.

// ==== floating

// e to the power x, by arithmetic alone, so that it runs in vectors.
$q __attribute__((always_inline)) $T exp_$t($T x) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    const float up = fmaf(x, 1.442695f, 0x1.8p23f), n = up - 0x1.8p23f; // the nearest integer
    const float r = fmaf(n, -1.42860677e-6f, fmaf(n, -0.693145752f, x)); // x - n * log(2)
    float p = fmaf(0x1.694p-10f, r, 0x1.125edcp-7f);
    p = fmaf(p, r, 0x1.555b5ap-5f);
    p = fmaf(p, r, 0x1.55545p-3f);
    p = fmaf(p, r, 0x1.fffff6p-2f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    // times 2**n, whose n the last bits of "up" are, in two steps: either factor is a normal number
    uint32_t bits;
    __builtin_memcpy(&bits, &up, 4);
    const uint32_t half = bits << 22 & 0xff800000, rest = (bits << 23) - half;
    const uint32_t first = half + 0x3f800000, second = rest + 0x3f800000;
    float s, t;
    __builtin_memcpy(&s, &first, 4);
    __builtin_memcpy(&t, &second, 4);
    p = x > 150.0f ? INFINITY : p * s * t;
    return x < -150.0f ? 0.0f : p;
#else
    return expf(x);
#endif
}

// The natural logarithm, by arithmetic alone, so that it runs in vectors.
$q __attribute__((always_inline)) $T log_$t($T x) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    // a subnormal number is multiplied by 2**23
    const uint32_t tiny = -(uint32_t)(x < 0x1p-126f) & 0x0b800000, scale = 0x3f800000 + tiny;
    float m;
    __builtin_memcpy(&m, &scale, 4);
    m *= x;
    uint32_t bits;
    __builtin_memcpy(&bits, &m, 4);
    const uint32_t e = (bits - 0x3f2aaaab) & 0xff800000; // of 2/3 <= m / 2**e < 4/3
    bits -= e;
    __builtin_memcpy(&m, &bits, 4);
    m -= 1.0f;
    const float i = (float)(int32_t)(e - tiny) * 0x1p-23f, s = m * m;
    float r = fmaf(-0x1.0aep-3f, s, -0x1.f198b2p-4f), t = fmaf(0x1.208p-3f, s, 0x1.1e574p-3f);
    r = fmaf(r, s, -0x1.55b36cp-3f);
    t = fmaf(t, s, 0x1.99d8b2p-3f);
    r = fmaf(r, s, -0x1.fffe02p-3f);
    r = fmaf(t, m, r);
    r = fmaf(r, m, 0x1.5554fap-2f);
    r = fmaf(r, m, -0.5f);
    r = fmaf(r, s, m);
    r = fmaf(i, 0x1.62e43p-1f, r);
    r = x < INFINITY ? r : x;
    r = x >= 0.0f ? r : NAN;
    return x == 0.0f ? -INFINITY : r;
#else
    return logf(x);
#endif
}

// The cube root, by arithmetic alone, so that it runs in vectors.
$q __attribute__((always_inline)) $T cbrt_$t($T x) {
    const double y = fabs(x) < 0x1p-1022 ? x * 0x1p54 : x;
    uint64_t bits;
    __builtin_memcpy(&bits, &y, 8);
    const uint64_t sign = bits >> 63 << 63, third = ((bits ^ sign) >> 32) / 3;
    bits = sign | (third + (fabs(x) < 0x1p-1022 ? 0x297f7893 : 0x2a9f7893)) << 32;
    double t;
    __builtin_memcpy(&t, &bits, 8); // right to 5 bits, then to 23
    double r = t * t * (t / x);
    t *= 0x1.e03e60f61e692p+0 + r * (-0x1.e28e092f02420p+0 + r * 0x1.9f1604a49d6c2p+0) +
         r * r * r * (-0x1.844cbbee751d9p-1 + r * 0x1.2b000d4e4edd7p-3);
    __builtin_memcpy(&bits, &t, 8);
    bits = (bits + 0x80000000) >> 30 << 30; // now t * t is exact
    __builtin_memcpy(&t, &bits, 8);
    r = x / (t * t);
    t += t * ((r - t) / (t + t + r));
    return x == 0 || x - x != 0 ? x : t;
}

// Infinity is selected before the root, because a conditional root prevents vectorization.

// sqrt(a * a + b * b), by arithmetic alone, so that it runs in vectors.
$q __attribute__((always_inline)) $T hypot_$t($T a, $T b) {
    const double x = a, y = b, sum = x * x + y * y; // squares of floats are exact
    return ($T)sqrt((fabsf(a) == INFINITY) | (fabsf(b) == INFINITY) ? INFINITY : sum);
}

// ==== wide

// Infinity is selected before the root, because a conditional root prevents vectorization.

// sqrt(a * a + b * b) without overflow, by arithmetic alone, so that it runs in vectors.
$q __attribute__((always_inline)) $T hypot_$t($T a, $T b) {
    const $T great = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    const $T up = great > 0x1p511 ? 0x1p-600 : great < 0x1p-459 ? 0x1p600 : 1.0;
    const $T down = great > 0x1p511 ? 0x1p600 : great < 0x1p-459 ? 0x1p-600 : 1.0;
    const $T x = a * up, y = b * up, sum = x * x + y * y;
    return sqrt((fabs(a) == INFINITY) | (fabs(b) == INFINITY) ? INFINITY : sum) * down;
}
