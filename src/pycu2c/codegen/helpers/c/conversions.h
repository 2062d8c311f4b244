// The words of a double.

// ==== fixed

// The upper 32 bits of x.
$q int32_t double2hiint(double x) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return (int32_t)(bits >> 32);
}

// The lower 32 bits of x.
$q int32_t double2loint(double x) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return (int32_t)(bits);
}

// The double with these upper and lower 32 bits.
$q double hiloint2double(int32_t high, int32_t low) {
    const uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
