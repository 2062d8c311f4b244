"""``pycu2c migrate``: a program for numba.cuda becomes one for this package, and what will differ
is said."""
