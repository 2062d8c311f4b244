"""Helpers for bit operations without a compiler builtin, or with one that is undefined for 0."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper

_CLZ = """
// The zero bits that x begins with.
$q int clz_$t($T x) {
    return x == 0 ? $bits : __builtin_clzll(($W)x) - (64 - $bits);
}
"""

_BREV = """
// The bits of x in reverse order.
$q $T brev_$t($T x) {
    $W rest = ($W)x, result = 0;
    for (int i = 0; i < $bits; ++i, rest >>= 1) result = result << 1 | (rest & 1);
    return ($T)result;
}
"""

BIT_HELPERS = {"clz": Helper(_CLZ, _CLZ), "brev": Helper(_BREV, _BREV)}
