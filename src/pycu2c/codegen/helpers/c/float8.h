// Conversions of 8-bit floats: integer arithmetic on the bits, rounding to nearest, ties to even.
// Subnormal numbers are multiples of the smallest one, 1 / 512 or 1 / 65536.

// ==== fixed

// The bits of the nearest E4M3; larger numbers saturate.
$q unsigned char float_to_e4m3(float x) {
    unsigned int bits;
    memcpy(&bits, &x, sizeof bits);
    const unsigned int sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return 0x7f;
    const float most = fminf(fabsf(x), 448.0f);
    const unsigned int tiny = (unsigned int)rintf(most * 512.0f);
    if (size < 121u << 23) return (unsigned char)(sign | tiny);
    memcpy(&bits, &most, sizeof bits);
    bits += 524287 + (bits >> 20 & 1);
    return (unsigned char)(sign | ((bits >> 20) - 960u));
}

// The value of an E4M3 as a float.
$q float e4m3_to_float(unsigned char x) {
    const float sign = x & 0x80 ? -1.0f : 1.0f;
    const unsigned int size = x & 0x7f;
    if (size < 8) return sign * (float)size / 512.0f;
    const unsigned int bits = size == 0x7f ? 0x7fc00000u : (size << 20) + (120u << 23);
    float value;
    memcpy(&value, &bits, sizeof value);
    return sign * value;
}

// The bits of the nearest E5M2; larger numbers saturate.
$q unsigned char float_to_e5m2(float x) {
    unsigned int bits;
    memcpy(&bits, &x, sizeof bits);
    const unsigned int sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return 0x7f;
    const float most = fminf(fabsf(x), 57344.0f);
    const unsigned int tiny = (unsigned int)rintf(most * 65536.0f);
    if (size < 113u << 23) return (unsigned char)(sign | tiny);
    memcpy(&bits, &most, sizeof bits);
    bits += 1048575 + (bits >> 21 & 1);
    return (unsigned char)(sign | ((bits >> 21) - 448u));
}

// The value of an E5M2 as a float.
$q float e5m2_to_float(unsigned char x) {
    const float sign = x & 0x80 ? -1.0f : 1.0f;
    const unsigned int size = x & 0x7f;
    if (size < 4) return sign * (float)size / 65536.0f;
    const unsigned int special = 0x7f800000u | (size & 3) << 21;
    const unsigned int bits = size >= 0x7c ? special : (size << 21) + (112u << 23);
    float value;
    memcpy(&value, &bits, sizeof value);
    return sign * value;
}
