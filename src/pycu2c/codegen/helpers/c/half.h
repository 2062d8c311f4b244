// $formula
$q bool ${name}_$t($T a, $T b) {
    const float x = $wide(a), y = $wide(b);
    return $formula;
}

// $formula$rounded
$q $T ${name}_$t($parameters) {
    return $round($computed);
}

// $formula$rounded
$q $T ${name}_$t($parameters) {
#if __CUDA_ARCH__ >= 800
    return $native($names);
#else
    return $round($computed);
#endif
}

// a * b + c, rounded once.
$q $T half_fma_$t($T a, $T b, $T c) {
    const double product = (double)$wide(a) * (double)$wide(b), term = $wide(c);
    double sum = product + term;
    const double part = sum - product, rest = (product - (sum - part)) + (term - part);
    if (rest != 0) {
        const double up = nextafter(sum, rest > 0 ? 1e308 : -1e308);
        const int is_odd = fmod(ldexp(sum, 52 - ilogb(sum)), 2.0) != 0;
        if (rest - rest == 0 && !is_odd) sum = up;  // rest is finite
    }
    return $round(sum);
}

#if __CUDA_ARCH__ >= 800
// a * b + c, rounded once.
$q $T half_fma_$t($T a, $T b, $T c) {
    return __hfma(a, b, c);
}
#else
$fused
#endif

// x rounded to decimal digits, ties to even, as numpy computes it: each step is rounded.
$q $T round_digits_$t($T x, long long digits) {
    const long long count = digits < -400 ? 400 : digits < 0 ? -digits : digits;
    double power = 1;
    for (long long i = 0; i < count && i < 400; i++) power *= 10;
    const double value = $wide(x), scale = $scale;
    const float scaled = $wide($round(digits < 0 ? value / scale : value * scale));
    const double whole = rintf(scaled);
    return $round(digits < 0 ? whole * scale : whole / scale);
}
