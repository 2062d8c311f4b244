// Math functions that neither C nor CUDA has.

// ==== signed

// x rounded to decimal digits, ties to even.
$q $T round_digits_$t($T x, long long digits) {
    if (digits >= 0) return x;
    if (digits < -19) return 0;
    unsigned long long scale = 1, size = x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x;
    for (; digits < 0; digits++) scale *= 10;
    const unsigned long long rest = size % scale, more = scale - rest;
    size -= rest;
    if (rest > more || (rest == more && (size / scale & 1))) size += scale;
    return ($T)(x < 0 ? 0 - size : size);
}

// -1, 0 or 1.
$q $T sign_$t($T x) {
    return ($T)((x > 0) - (x < 0));
}

// The remainder with the sign of a; 0 where b is 0.
$q $T fmod_$t($T a, $T b) {
    return b == 0 || b == -1 ? 0 : ($T)(a % b);
}

// The integer part of the square root; 0 for negative n.
$q $T isqrt_$t($T n) {
    if (n <= 0) return 0;
    const $W square = ($W)n;
    $W root = ($W)sqrt((double)n);
    while (root * root > square) root--;
    while ((root + 1) * (root + 1) <= square) root++;
    return ($T)root;
}

// n! modulo 2**64, which is 0 from 66 on; 0 for n < 0.
$q $T factorial_$t($T n) {
    $W product = n >= 0 && n < 66;
    for ($W factor = 2; product != 0 && factor <= ($W)n; factor++) product *= factor;
    return ($T)product;
}

// n * (n - 1) * ..., k factors, modulo 2**64, which is 0 for 66 factors.
$q $T perm_$t($T n, $T k) {
    $W product = k >= 0 && k <= n && k < 66;
    for ($W i = 0; product != 0 && i < ($W)k; i++) product *= ($W)n - i;
    return ($T)product;
}

// The binomial coefficient; 0 if it does not fit 64 bits.
$q $T comb_$t($T n, $T k) {
    if (k < 0 || k > n) return 0;
    const $W fewest = ($W)(k < n - k ? k : n - k), most = ($W)-1 >> 1;
    $W ways = 1;
    if (fewest >= 34) return 0;
    for ($W i = 1; i <= fewest; i++) {
        $W common = ways, other = i;  // ways * (n - fewest + i) / i, in lowest terms
        while (other != 0) {
            const $W rest = common % other;
            common = other;
            other = rest;
        }
        const $W factor = (($W)n - fewest + i) / (i / common);
        if (ways / common > most / factor) return 0;
        ways = ways / common * factor;
    }
    return ($T)ways;
}

// The greatest common divisor.
$q $T gcd_$t($T a, $T b) {
    $W x = a < 0 ? 0 - ($W)a : ($W)a, y = b < 0 ? 0 - ($W)b : ($W)b;
    while (y != 0) {
        const $W rest = x % y;
        x = y;
        y = rest;
    }
    return ($T)x;
}

// The least common multiple.
$q $T lcm_$t($T a, $T b) {
    $W x = a < 0 ? 0 - ($W)a : ($W)a, y = b < 0 ? 0 - ($W)b : ($W)b;
    const $W first = x, second = y;
    if (x == 0 || y == 0) return 0;
    while (y != 0) {
        const $W rest = x % y;
        x = y;
        y = rest;
    }
    return ($T)(first / x * second);
}

// ==== unsigned

// x rounded to decimal digits, ties to even.
$q $T round_digits_$t($T x, long long digits) {
    if (digits >= 0) return x;
    if (digits < -19) return 0;
    unsigned long long scale = 1, size = x;
    for (; digits < 0; digits++) scale *= 10;
    const unsigned long long rest = size % scale, more = scale - rest;
    size -= rest;
    if (rest > more || (rest == more && (size / scale & 1))) size += scale;
    return ($T)size;
}

// 0 or 1.
$q $T sign_$t($T x) {
    return x > 0;
}

// The remainder; 0 where b is 0.
$q $T fmod_$t($T a, $T b) {
    return b == 0 ? 0 : ($T)(a % b);
}

// The greatest common divisor.
$q $T gcd_$t($T a, $T b) {
    $W x = a, y = b;
    while (y != 0) {
        const $W rest = x % y;
        x = y;
        y = rest;
    }
    return ($T)x;
}

// The least common multiple.
$q $T lcm_$t($T a, $T b) {
    $W x = a, y = b;
    const $W first = x, second = y;
    if (x == 0 || y == 0) return 0;
    while (y != 0) {
        const $W rest = x % y;
        x = y;
        y = rest;
    }
    return ($T)(first / x * second);
}

// ==== floating

// x rounded to decimal digits, ties to even, as numpy computes it.
$q $T round_digits_$t($T x, long long digits) {
    const long long count = digits < -400 ? 400 : digits < 0 ? -digits : digits;
    double power = 1;
    for (long long i = 0; i < count && i < 400; i++) power *= 10;
    const $T scale = ($T)power;
    return digits < 0 ? rint$f(x / scale) * scale : rint$f(x * scale) / scale;
}

// 10**|digits| is the sum of two floats, so that no product or quotient is rounded before the result.

// x rounded to decimal digits, ties to even, as Python does: the decimal is the exact one.
$q $T round_decimal_$t($T x, long long digits) {
    if (x == 0 || x - x != 0 || digits > 308) return x;
    if (digits < -308) return copysign$f(($T)0, x);
    const bool is_fraction = digits > 0;
    const double exact = x;
    double power = 1, rest = 0;
    for (long long i = is_fraction ? digits : -digits; i > 0; i--) {
        const double next = fma(power, 10, 0.0);  // a product that no compiler contracts
        const double low = rest * 10 + fma(power, 10, -next);
        power = next + low;
        rest = low - (power - next);
    }
    double whole = rint(is_fraction ? exact * power : exact / power);
    if (fabs(whole) >= 9007199254740992.0) return x;  // 2**53: x has no such digits
    const double left = is_fraction ? fma(exact, power, -whole) + exact * rest
                                    : (fma(-whole, power, exact) - whole * rest) / power;
    if (fabs(whole) < 4503599627370496.0) {  // 2**52: halves are floats
        const double half = whole + copysign(0.5, left);
        const double beyond = is_fraction ? fma(exact, power, -half) + exact * rest
                                          : fma(-half, power, exact) - half * rest;
        if ((left > 0 && beyond > 0) || (left < 0 && beyond < 0)) whole += copysign(1.0, left);
    } else {
        whole += rint(left);
    }
    if (whole == 0) return copysign$f(($T)0, x);
    if (!is_fraction) return ($T)fma(whole, power, whole * rest);
    const double near = whole / power;
    return ($T)(near + (fma(-near, power, whole) - near * rest) / power);
}

// -1, 0 or 1; NaN for NaN.
$q $T sign_$t($T x) {
    return x != x ? x : ($T)((x > 0) - (x < 0));
}

// x * 2**exponent, rounded once.
$q $T ldexp_$t($T x, long long exponent) {
    const int count = exponent < -5000 ? -5000 : exponent > 5000 ? 5000 : (int)exponent;
    return ldexp$f(x, count);
}

// 0 below 0, 1 above; b where a is 0.
$q $T heaviside_$t($T a, $T b) {
    return a != a ? a : a == 0 ? b : ($T)(a > 0);
}

// sin(pi * x) / (pi * x); 1 at 0.
$q $T sinc_$t($T x) {
    const $T angle = 3.141592653589793$s * x;
    return x == 0 ? 1 : sin$f(angle) / angle;
}

// log(exp(a) + exp(b))
$q $T logaddexp_$t($T a, $T b) {
    if (a == b) return a + 0.6931471805599453$s;
    const $T gap = a - b;
    if (gap != gap) return gap;
    return (gap > 0 ? a : b) + log1p$f(exp$f(-fabs$f(gap)));
}

// log2(2**a + 2**b)
$q $T logaddexp2_$t($T a, $T b) {
    if (a == b) return a + 1;
    const $T gap = a - b;
    if (gap != gap) return gap;
    return (gap > 0 ? a : b) + 1.4426950408889634$s * log1p$f(exp2$f(-fabs$f(gap)));
}
