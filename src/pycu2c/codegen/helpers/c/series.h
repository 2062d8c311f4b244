// Special functions with a series or an iteration.

// ==== fixed

// The sine of pi * t, with the other sign if odd != 0: pi * t minus the other terms of the series.
// Arithmetic only, so that compilers vectorize it.
$q double sine_series(double t, double odd) {
    const double z = t * t;
    double sum = -1.0518471716932065e-11;
    sum = sum * z + 5.392664662608129e-10;
    sum = sum * z - 2.2948428997269873e-08;
    sum = sum * z + 7.952054001475513e-07;
    sum = sum * z - 2.1915353447830217e-05;
    sum = sum * z + 0.00046630280576761255;
    sum = sum * z - 0.0073704309457143504;
    sum = sum * z + 0.08214588661112823;
    sum = sum * z - 0.5992645293207921;
    sum = sum * z + 2.5501640398773455;
    sum = sum * z - 5.16771278004997;
    return (odd != 0 ? -1.0 : 1.0) * (3.141592653589793 * t + t * (z * sum));
}

// The inverse of erf for size = 1 - rest, by Halley's method from a start with 3 correct digits.
$q double inverse_erf(double size, double rest) {
    double root = size < 0.1 ? size * (0.886226925452758 + 0.232013666534654 * size * size) : 0;
    if (size >= 0.1) {
        const double t = sqrt(-2 * log(rest / 2));
        const double above = 2.515517 + t * (0.802853 + t * 0.010328);
        const double below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
        root = (t - above / below) / 1.4142135623730951;
    }
    for (int i = 0; i < 3; ++i) {
        const double off = size < 0.5 ? erf(root) - size : rest - erfc(root);
        const double rise = exp(root * root / 2);
        const double step = off * rise * 0.886226925452758 * rise;
        root -= step / (1 + root * step);
    }
    return root;
}

// The inverse of erfc.
$q double inverse_erfc(double q) {
    if (!(q > 0 && q < 2)) return q == 0 ? INFINITY : q == 2 ? -INFINITY : NAN;
    const double rest = q < 1 ? q : 2 - q, root = inverse_erf(1 - rest, rest);
    return q < 1 ? root : -root;
}

// 1 / sqrt(x), rounded to the nearest, by a Newton step in double.
$q float frsqrt_rn(float x) {
    if (!(x > 0 && x < INFINITY)) return 1 / sqrtf(x);
    const double root = sqrt((double)x), near = 1 / root;
    const double off = fma(near * near, (double)x, -1.0);
    return (float)(near - near * off / 2);
}

// ==== floating

// The sine of pi * x.
$q $T sinpi_$t($T x) {
    const double whole = rint((double)x), odd = whole - 2 * floor(whole / 2);
    return ($T)sine_series(x - whole, odd);
}

// The cosine of pi * x.
$q $T cospi_$t($T x) {
    const double whole = rint((double)x), odd = whole - 2 * floor(whole / 2);
    return ($T)sine_series(0.5 - fabs(x - whole), odd);
}

// The inverse of erf.
$q $T erfinv_$t($T x) {
    if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * INFINITY : NAN;
    const double size = fabs((double)x);
    return ($T)copysign(inverse_erf(size, 1 - size), (double)x);
}

// The inverse of erfc.
$q $T erfcinv_$t($T x) {
    return ($T)inverse_erfc(x);
}

// The inverse of normcdf.
$q $T normcdfinv_$t($T x) {
    return ($T)(-1.4142135623730951 * inverse_erfc(2 * (double)x));
}

// The modified Bessel function of the first kind, order 0.
$q $T cyl_bessel_i0_$t($T x) {
    const double size = fabs((double)x), half = size / 2;
    double term = 1, sum = 1;
    if (size < 30) {
        for (int k = 1; term > sum * 1e-17; ++k) {
            term *= half / k * (half / k);
            sum += term;
        }
        return ($T)sum;
    }
    if (size > 720) return ($T)INFINITY;
    for (int k = 1; k < 30 && fabs(term) > 1e-17; ++k) {
        const double odd = 2 * k - 1;
        term *= odd * odd / (8 * k * size);
        sum += term;
    }
    const double rise = exp(half);
    return ($T)rise / sqrt(6.283185307179586 * size) * sum * rise;
}

// The modified Bessel function of the first kind, order 1.
$q $T cyl_bessel_i1_$t($T x) {
    const double size = fabs((double)x), half = size / 2;
    double term = 1, sum = 1;
    if (size < 30) {
        for (int k = 1; term > sum * 1e-17; ++k) {
            term *= half / k * (half / (k + 1));
            sum += term;
        }
        return ($T)copysign(sum * half, (double)x);
    }
    if (size > 720) return ($T)copysign(INFINITY, (double)x);
    for (int k = 1; k < 30 && fabs(term) > 1e-17; ++k) {
        const double odd = 2 * k - 1;
        term *= -(4 - odd * odd) / (8 * k * size);
        sum += term;
    }
    const double rise = exp(half);
    return ($T)copysign(rise / sqrt(6.283185307179586 * size) * sum * rise, (double)x);
}
