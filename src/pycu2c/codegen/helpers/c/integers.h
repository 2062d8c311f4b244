// Integer instructions of GPUs on the CPU.

// ==== signed, unsigned

// The number of leading zero bits.
$q int clz_$t($T x) {
    return x == 0 ? $bits : __builtin_clzll(($W)x) - (64 - $bits);
}

// The bits of x in reverse order.
$q $T brev_$t($T x) {
    $W rest = ($W)x, result = 0;
    for (int i = 0; i < $bits; ++i, rest >>= 1) result = result << 1 | (rest & 1);
    return ($T)result;
}

// ==== fixed

// The upper 32 bits of x * y.
$q int32_t mulhi(int32_t x, int32_t y) {
    return (int32_t)((int64_t)x * y >> 32);
}

// The upper 32 bits of x * y.
$q uint32_t umulhi(uint32_t x, uint32_t y) {
    return (uint32_t)((uint64_t)x * y >> 32);
}

// The lower 32 bits of the product of the lower 24 bits of each.
$q uint32_t umul24(uint32_t x, uint32_t y) {
    return (x & 0xffffff) * (y & 0xffffff);
}

// The average, rounded down.
$q int32_t hadd(int32_t x, int32_t y) {
    return (x & y) + ((x ^ y) >> 1);
}

// The average, rounded down.
$q uint32_t uhadd(uint32_t x, uint32_t y) {
    return (x & y) + ((x ^ y) >> 1);
}

// The average, rounded up.
$q int32_t rhadd(int32_t x, int32_t y) {
    return (x | y) - ((x ^ y) >> 1);
}

// The average, rounded up.
$q uint32_t urhadd(uint32_t x, uint32_t y) {
    return (x | y) - ((x ^ y) >> 1);
}

// |x - y| + z
$q uint32_t sad(int32_t x, int32_t y, uint32_t z) {
    return (x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x) + z;
}

// |x - y| + z
$q uint32_t usad(uint32_t x, uint32_t y, uint32_t z) {
    return (x > y ? x - y : y - x) + z;
}

// The upper word of y:x, shifted left.
$q uint32_t funnelshift_l(uint32_t x, uint32_t y, uint32_t z) {
    return (uint32_t)(((uint64_t)y << 32 | x) << (z & 31) >> 32);
}

// The upper word of y:x, shifted left by 32 at most.
$q uint32_t funnelshift_lc(uint32_t x, uint32_t y, uint32_t z) {
    return z < 32 ? (uint32_t)(((uint64_t)y << 32 | x) << z >> 32) : x;
}

// The lower word of y:x, shifted right.
$q uint32_t funnelshift_r(uint32_t x, uint32_t y, uint32_t z) {
    return (uint32_t)(((uint64_t)y << 32 | x) >> (z & 31));
}

// The lower word of y:x, shifted right by 32 at most.
$q uint32_t funnelshift_rc(uint32_t x, uint32_t y, uint32_t z) {
    return (uint32_t)(((uint64_t)y << 32 | x) >> (z < 32 ? z : 32));
}

// The upper 64 bits of x * y.
$q uint64_t umul64hi(uint64_t x, uint64_t y) {
    const uint64_t a = x >> 32, b = x & 0xffffffff, c = y >> 32, d = y & 0xffffffff;
    const uint64_t low = b * d, left = a * d, right = b * c;
    const uint64_t middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff);
    return a * c + (left >> 32) + (right >> 32) + (middle >> 32);
}

// The upper 64 bits of x * y.
$q int64_t mul64hi(int64_t x, int64_t y) {
    const uint64_t a = (uint64_t)x >> 32, b = (uint64_t)x & 0xffffffff;
    const uint64_t c = (uint64_t)y >> 32, d = (uint64_t)y & 0xffffffff;
    const uint64_t low = b * d, left = a * d, right = b * c;
    const uint64_t middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff);
    const uint64_t high = a * c + (left >> 32) + (right >> 32) + (middle >> 32);
    return (int64_t)(high - (x < 0 ? (uint64_t)y : 0) - (y < 0 ? (uint64_t)x : 0));
}

// The lower 32 bits of the product of the lower 24 bits of each.
$q int32_t mul24(int32_t x, int32_t y) {
    const int32_t a = (int32_t)((uint32_t)x << 8) >> 8, b = (int32_t)((uint32_t)y << 8) >> 8;
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

// Four of the eight bytes of y:x, selected by the lowest four nibbles of z.
$q uint32_t byte_perm(uint32_t x, uint32_t y, uint32_t z) {
    const uint64_t both = (uint64_t)y << 32 | x;
    uint32_t result = 0;
    for (int place = 0; place < 4; ++place) {
        const uint32_t byte = (uint32_t)(both >> 8 * (z >> 4 * place & 7)) & 0xff;
        result |= byte << 8 * place;
    }
    return result;
}
