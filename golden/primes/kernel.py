"""Trial division: a while loop with break, a flag per number and an atomic count."""

import numpy as np

from pycu2c import boolean, cuda, int64, kernel

SIGNATURES = {"i64": (boolean[::1], int64[::1])}


@kernel
def primes(is_prime, count):
    n = cuda.grid(1)
    if n >= len(is_prime):
        return
    prime = n >= 2
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            prime = False
            break
        divisor += 1
    is_prime[n] = prime
    if prime:
        cuda.atomic.add(count, 0, 1)


def case(rng, variant):
    return 5, 64, (np.zeros(300, bool), np.zeros(1, np.int64))
