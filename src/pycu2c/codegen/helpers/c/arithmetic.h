// Python's operators and comparisons, where C has another meaning. Signed arithmetic that may
// overflow is done in $W, an unsigned type that C does not promote.

// ==== signed, unsigned, floating

// min(a, b) as in Python: a unless b < a.
$q $T min_$t($T a, $T b) {
    return b < a ? b : a;
}

// max(a, b) as in Python: a unless b > a.
$q $T max_$t($T a, $T b) {
    return b > a ? b : a;
}

// ==== signed, unsigned

// The minimum; NaN if an argument is NaN.
$q $T minimum_$t($T a, $T b) {
    return b < a ? b : a;
}

// The maximum; NaN if an argument is NaN.
$q $T maximum_$t($T a, $T b) {
    return b > a ? b : a;
}

// a where the mask is 1, b where it is 0, without a branch.
$q $T pick_$t($T a, $T b, int32_t mask) {
    return ($T)(b ^ ((a ^ b) & -($W)mask));
}

// a << b; 0 where b is the width or more.
$q $T shl_$t($T a, $T b) {
    return ($W)b < $bits ? ($T)(($W)a << b) : 0;
}

// ==== signed

// a // b: rounds down; 0 where b is 0.
$q $T floordiv_$t($T a, $T b) {
    if (b == 0) return 0;
    if (b == -1) return ${n}a);
    return ($T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

// a % b: has the sign of b; 0 where b is 0.
$q $T mod_$t($T a, $T b) {
    if (b == 0 || b == -1) return 0;
    const $T remainder = ($T)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? ($T)(remainder + b) : remainder;
}

// base ** exponent, wrapping; truncated to an integer for a negative exponent.
$q $T pow_$t($T base, $T exponent) {
    if (exponent < 0) return base == 1 ? 1 : base != -1 ? 0 : exponent & 1 ? -1 : 1;
    $W result = 1, square = ($W)base;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result *= square;
        square *= square;
    }
    return ($T)result;
}

// a >> b; all sign bits where b is the width or more.
$q $T shr_$t($T a, $T b) {
    return ($T)(($W)b < $bits ? a >> b : a < 0 ? -1 : 0);
}

// The absolute value; the least integer wraps to itself.
$q $T abs_$t($T x) {
    return x < 0 ? ${n}x) : x;
}

// The length of range(start, stop, step), at most the largest $T; 0 for step 0.
$q $T trip_count_$t($T start, $T stop, $T step) {
    const $W most = ($W)-1 >> 1;
    $W others = 0;  // than the first
    if (step > 0 && start < stop) others = (($W)stop - ($W)start - 1) / ($W)step;
    else if (step < 0 && start > stop) others = (($W)start - ($W)stop - 1) / (0 - ($W)step);
    else return 0;
    return ($T)(others < most ? others + 1 : most);
}

// ==== unsigned

// a // b; 0 where b is 0.
$q $T floordiv_$t($T a, $T b) {
    return b == 0 ? 0 : ($T)(a / b);
}

// a % b; 0 where b is 0.
$q $T mod_$t($T a, $T b) {
    return b == 0 ? 0 : ($T)(a % b);
}

// base ** exponent, wrapping.
$q $T pow_$t($T base, $T exponent) {
    $W result = 1, square = ($W)base;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1) result *= square;
        square *= square;
    }
    return ($T)result;
}

// a >> b; 0 where b is the width or more.
$q $T shr_$t($T a, $T b) {
    return ($T)(b < $bits ? a >> b : 0);
}

// ==== floating

// a // b: the quotient rounded down, as numpy computes it.
$q $T floordiv_$t($T a, $T b) {
    if (b == 0) return a / b;
    const $T remainder = fmod$f(a, b);
    $T quotient = (a - remainder) / b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return copysign$f(0.0$s, a / b);
    const $T whole = floor$f(quotient);
    return quotient - whole > 0.5$s ? whole + 1 : whole;
}

// a % b: has the sign of b.
$q $T mod_$t($T a, $T b) {
    const $T remainder = fmod$f(a, b);
    if (b == 0) return remainder;
    if (remainder == 0) return copysign$f(0.0$s, b);
    return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// The minimum; NaN if an argument is NaN.
$q $T minimum_$t($T a, $T b) {
    return a <= b || a != a ? a : b;
}

// The maximum; NaN if an argument is NaN.
$q $T maximum_$t($T a, $T b) {
    return a >= b || a != a ? a : b;
}

// a where the mask is 1, b where it is 0, bit by bit, without a branch.
$q $T pick_$t($T a, $T b, int32_t mask) {
    $W x, y;
    __builtin_memcpy(&x, &a, sizeof x);
    __builtin_memcpy(&y, &b, sizeof y);
    y ^= (x ^ y) & -($W)mask;
    __builtin_memcpy(&b, &y, sizeof y);
    return b;
}

// Whether a and b have the same bits: NaN equals NaN, -0.0 differs from 0.0.
$q int same_bits_$t($T a, $T b) {
    return __builtin_memcmp(&a, &b, sizeof a) == 0;
}

// x, with 0.0 in place of -0.0.
$q $T positive_zero_$t($T x) {
    return x + 0;
}

// (int32_t)(int64_t)x, without a conversion to int64_t where x fits.
$q int32_t low_bits_$t($T x) {
    return x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : (int32_t)(int64_t)x;
}
