"""The Fock matrix of helium atoms on a lattice, whose integrals are added by atomics."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mini_apps import Case
from pycu2c import cuda, device, float32, kernel

FLAGS = ("-O3", "-use_fast_math")
DTOL = RCUT = 1e-12
TWO_PER_SQRT_PI = 2 / math.sqrt(math.pi)
THREADS = 256
BOHRS = 1.889725987722
SPACING = 1.4  # angstroms
# exponents and coefficients of the orbitals
EXPONENTS = np.array([6.3624214, 1.158923, 0.3136498])
COEFFICIENTS = np.array([0.154328967295, 0.535328142282, 0.444634542185])


@device
def row_of(position: Any, row: Any) -> Any:
    """Return the row of a lower triangle that has a position; ``row`` is not after it."""
    while (row * row + row) // 2 < position:
        row += 1
    return row


@device
def distance2(geometry: Any, i: Any, j: Any) -> Any:
    return (
        (geometry[0, i] - geometry[0, j]) ** 2
        + (geometry[1, i] - geometry[1, j]) ** 2
        + (geometry[2, i] - geometry[2, j]) ** 2
    )


@kernel(fastmath=True, wraparound=False)
def fock_matrix(
    fock: Any, density: Any, schwarz: Any, geometry: Any, exponents: Any, coefficients: Any
) -> None:
    ijkl = cuda.grid(1)
    ij = row_of(ijkl, int(math.sqrt(float32(2 * ijkl))))
    kl = ijkl - (ij * ij - ij) // 2
    if schwarz[ij] * schwarz[kl] <= DTOL:
        return
    i = row_of(ij, int(math.sqrt(float32(2 * ij))) - 1)
    j = ij - (i * i - i) // 2 - 1
    k = row_of(kl, int(math.sqrt(float32(2 * kl))))
    l = kl - (k * k - k) // 2 - 1  # noqa: E741
    i -= 1
    k -= 1
    eri = 0.0
    for ib in range(exponents.size):
        for jb in range(exponents.size):
            p, q = exponents[ib], exponents[jb]
            aij = 1 / (p + q)
            dij = coefficients[ib] * coefficients[jb]
            dij *= math.exp(-p * q * aij * distance2(geometry, i, j)) * aij**1.5
            if abs(dij) > DTOL:
                xij = aij * (p * geometry[0, i] + q * geometry[0, j])
                yij = aij * (p * geometry[1, i] + q * geometry[1, j])
                zij = aij * (p * geometry[2, i] + q * geometry[2, j])
                for kb in range(exponents.size):
                    for lb in range(exponents.size):
                        r, s = exponents[kb], exponents[lb]
                        akl = 1 / (r + s)
                        dkl = dij * coefficients[kb] * coefficients[lb]
                        dkl *= math.exp(-r * s * akl * distance2(geometry, k, l)) * akl**1.5
                        if abs(dkl) > DTOL:
                            aijkl = (p + q) * (r + s) / (p + q + r + s)
                            x = xij - akl * (r * geometry[0, k] + s * geometry[0, l])
                            y = yij - akl * (r * geometry[1, k] + s * geometry[1, l])
                            z = zij - akl * (r * geometry[2, k] + s * geometry[2, l])
                            t = aijkl * (x**2 + y**2 + z**2)
                            f0t = TWO_PER_SQRT_PI
                            if t > RCUT:
                                f0t = t**-0.5 * math.erf(math.sqrt(t))
                            eri += dkl * f0t * math.sqrt(float32(aijkl))
    if i == j:
        eri *= 0.5
    if k == l:
        eri *= 0.5
    if i == k and j == l:
        eri *= 0.5
    cuda.atomic.add(fock, (i, j), density[k, l] * eri * 4)
    cuda.atomic.add(fock, (k, l), density[i, j] * eri * 4)
    cuda.atomic.add(fock, (i, k), -density[j, l] * eri)
    cuda.atomic.add(fock, (i, l), -density[j, k] * eri)
    cuda.atomic.add(fock, (j, k), -density[i, l] * eri)
    cuda.atomic.add(fock, (j, l), -density[i, k] * eri)


def cases(sources: Path | None, small: bool) -> list[Case]:
    if small:
        return [case(2, 2, 2)]
    return [case(4, 4, 4), case(8, 4, 4), case(8, 8, 4)]


def case(*lattice: int) -> Case:
    geometry = np.indices(lattice).reshape(3, -1) * (SPACING * BOHRS)
    atoms = geometry.shape[1]
    coefficients = COEFFICIENTS * (2 * EXPONENTS) ** 0.75
    pairs = atoms * (atoms + 1) // 2
    blocks = -(-(pairs * (pairs + 1) // 2) // THREADS)
    # from 1; threads after the last pair read a few zeros
    schwarz = np.zeros(pairs + THREADS)
    i, j = np.tril_indices(atoms)
    schwarz[1 : pairs + 1] = np.sqrt(np.abs(integrals(geometry, coefficients, i, j, i, j)))
    density = np.full((atoms, atoms), 0.1)
    np.fill_diagonal(density, 1)
    return Case(
        f"Hartree-Fock, {atoms} atoms",
        fock_matrix,
        (np.zeros((atoms, atoms)), density, schwarz, geometry, EXPONENTS, coefficients),
        (),
        (blocks,),
        (THREADS,),
        "fock_matrix",
        (blocks, atoms, len(EXPONENTS)),
        (0,),
        partial(expected, geometry, coefficients, density),
        1e-6,  # one root is of float32
    )


def integrals(
    geometry: np.ndarray,
    coefficients: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    k: np.ndarray,
    l: np.ndarray,  # noqa: E741
) -> np.ndarray:
    """Return the electron repulsion integrals of quartets of atoms."""
    total = np.zeros(i.shape)
    orbitals = list(zip(EXPONENTS, coefficients, strict=True))
    for p, cp in orbitals:
        for q, cq in orbitals:
            dij, at_ij = product(geometry, i, p, j, q)
            for r, cr in orbitals:
                for s, cs in orbitals:
                    dkl, at_kl = product(geometry, k, r, l, s)
                    a = (p + q) * (r + s) / (p + q + r + s)
                    t = a * ((at_ij - at_kl) ** 2).sum(0)
                    erf = np.array([math.erf(x) for x in np.sqrt(t)])
                    small = t <= RCUT
                    f0t = np.where(small, TWO_PER_SQRT_PI, erf / np.sqrt(np.where(small, 1, t)))
                    total += cp * cq * cr * cs * dij * dkl * f0t * math.sqrt(a)
    return total


def product(
    geometry: np.ndarray, i: np.ndarray, p: float, j: np.ndarray, q: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the magnitude and the centre of the product of two orbitals."""
    distance2 = ((geometry[:, i] - geometry[:, j]) ** 2).sum(0)
    magnitude = np.exp(-p * q / (p + q) * distance2) / (p + q) ** 1.5
    return magnitude, (p * geometry[:, i] + q * geometry[:, j]) / (p + q)


def expected(
    geometry: np.ndarray, coefficients: np.ndarray, density: np.ndarray
) -> list[np.ndarray]:
    first, second = np.tril_indices(geometry.shape[1])
    ij, kl = np.tril_indices(len(first))
    i, j, k, l = first[ij], second[ij], first[kl], second[kl]  # noqa: E741
    eri = integrals(geometry, coefficients, i, j, k, l)
    eri *= 0.5 ** ((i == j) + 0 + (k == l) + ((i == k) & (j == l)))
    fock = np.zeros_like(density)
    np.add.at(fock, (i, j), density[k, l] * eri * 4)
    np.add.at(fock, (k, l), density[i, j] * eri * 4)
    np.add.at(fock, (i, k), -density[j, l] * eri)
    np.add.at(fock, (i, l), -density[j, k] * eri)
    np.add.at(fock, (j, k), -density[i, l] * eri)
    np.add.at(fock, (j, l), -density[i, k] * eri)
    return [fock]
