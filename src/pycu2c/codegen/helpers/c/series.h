// Special functions with a series or an iteration, which special_helpers.py has: @SERIES, ….

// ==== floating

// The sine of pi * x.
$q $T sinpi_$t($T x) {
    const double whole = rint((double)x), odd = whole - 2 * floor(whole / 2);
    const double t = x - whole;
@SERIES}

// The cosine of pi * x.
$q $T cospi_$t($T x) {
    const double whole = rint((double)x), odd = whole - 2 * floor(whole / 2);
    const double t = 0.5 - fabs(x - whole);
@SERIES}

// The inverse of erf.
$q $T erfinv_$t($T x) {
    if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * INFINITY : NAN;
    const double size = fabs((double)x), rest = 1 - size;
@INVERSE    return ($T)copysign(root, (double)x);
}

// The inverse of erfc.
$q $T erfcinv_$t($T x) {
    const double q = x, at_0 = INFINITY;
@ERFCINV    return ($T)(q < 1 ? root : -root);
}

// The inverse of normcdf.
$q $T normcdfinv_$t($T x) {
    const double q = 2 * (double)x, at_0 = -INFINITY;
@ERFCINV    return ($T)(1.4142135623730951 * (q < 1 ? -root : root));
}
