"""miniBUDE, which computes the energies of poses of a ligand at a protein, by docking.

The University of Bristol wrote it: https://github.com/UoB-HPC/miniBUDE, under the Apache licence.
The original declares its records as packed, so that they are loaded byte by byte; here they are
aligned.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mini_apps import Case
from pycu2c import cuda, float32, kernel

FLAGS = ("-O3", "-use_fast_math", "-restrict", "-extended-lambda")
THREADS = 64
DECK = "miniBUDE/data/bm1"
HBTYPE_F, HBTYPE_E = 70, 69
HARDNESS, NPNPDIST, NPPDIST, CNSTNT = 38.0, 5.5, 1.0, 45.0
FLOAT_MAX = float(np.finfo(np.float32).max)
ATOM = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("type", "i4")], align=True)
FORCES = np.dtype([("hbtype", "i4"), ("radius", "f4"), ("hphb", "f4"), ("elsc", "f4")], align=True)


def make_kernel(poses: int) -> Any:
    """Return the kernel whose threads each compute the energies of some poses."""

    @kernel(fastmath=True, wraparound=False)
    def fasten(energies: Any, protein: Any, ligand: Any, forcefield: Any, transforms: Any) -> None:
        count = energies.size
        start = cuda.blockIdx.x * cuda.blockDim.x * poses + cuda.threadIdx.x
        first = start if start < count else count - poses
        energy = cuda.local.array(poses, float32)
        transform = cuda.local.array((poses, 3, 4), float32)
        for i in range(poses):
            pose = first + i * cuda.blockDim.x
            sx, cx = math.sin(transforms[0, pose]), math.cos(transforms[0, pose])
            sy, cy = math.sin(transforms[1, pose]), math.cos(transforms[1, pose])
            sz, cz = math.sin(transforms[2, pose]), math.cos(transforms[2, pose])
            transform[i, 0, 0] = cy * cz
            transform[i, 0, 1] = sx * sy * cz - cx * sz
            transform[i, 0, 2] = cx * sy * cz + sx * sz
            transform[i, 0, 3] = transforms[3, pose]
            transform[i, 1, 0] = cy * sz
            transform[i, 1, 1] = sx * sy * sz + cx * cz
            transform[i, 1, 2] = cx * sy * sz - sx * cz
            transform[i, 1, 3] = transforms[4, pose]
            transform[i, 2, 0] = -sy
            transform[i, 2, 1] = sx * cy
            transform[i, 2, 2] = cx * cy
            transform[i, 2, 3] = transforms[5, pose]
            energy[i] = 0
        position = cuda.local.array((poses, 3), float32)
        for l_atom in ligand:
            l_forces = forcefield[l_atom.type]
            l_negative, l_positive = l_forces.hphb < 0, l_forces.hphb > 0
            for i in range(poses):
                for axis in range(3):
                    position[i, axis] = (
                        transform[i, axis, 3]
                        + l_atom.x * transform[i, axis, 0]
                        + l_atom.y * transform[i, axis, 1]
                        + l_atom.z * transform[i, axis, 2]
                    )
            for p_atom in protein:
                p_forces = forcefield[p_atom.type]
                radij = p_forces.radius + l_forces.radius
                r_radij = 1 / radij
                both_f = p_forces.hbtype == HBTYPE_F and l_forces.hbtype == HBTYPE_F
                elcdst = 4.0 if both_f else 2.0
                r_elcdst = 0.25 if both_f else 0.5
                is_e = p_forces.hbtype == HBTYPE_E or l_forces.hbtype == HBTYPE_E
                p_negative, p_positive = p_forces.hphb < 0, p_forces.hphb > 0
                p_not_zero = p_forces.hphb != 0
                p_hphb = p_forces.hphb * (-1.0 if p_negative and l_positive else 1.0)
                l_hphb = l_forces.hphb * (-1.0 if p_positive and l_negative else 1.0)
                if p_negative:
                    distdslv = float32(NPNPDIST if l_negative else NPPDIST)
                else:
                    distdslv = float32(NPPDIST if l_negative else -FLOAT_MAX)
                r_distdslv = 1 / distdslv
                chrg_init = l_forces.elsc * p_forces.elsc
                dslv_init = p_hphb + l_hphb
                for i in range(poses):
                    x = position[i, 0] - p_atom.x
                    y = position[i, 1] - p_atom.y
                    z = position[i, 2] - p_atom.z
                    distij = math.sqrt(x * x + y * y + z * z)
                    distbb = distij - radij
                    zone1 = distbb < 0
                    # steric energy
                    energy[i] += (1 - distij * r_radij) * (2 * HARDNESS if zone1 else 0.0)
                    # formal and dipole charges
                    chrg_e = chrg_init * (1.0 if zone1 else 1 - distbb * r_elcdst)
                    chrg_e *= 1.0 if distbb < elcdst else 0.0
                    energy[i] += (-abs(chrg_e) if is_e else chrg_e) * CNSTNT
                    # repulsion of nonpolar and polar atoms
                    dslv_e = dslv_init * (1.0 if distbb < distdslv and p_not_zero else 0.0)
                    energy[i] += dslv_e * (1.0 if zone1 else 1 - distbb * r_distdslv)
        if start < count:
            for i in range(poses):
                energies[start + i * cuda.blockDim.x] = energy[i] * 0.5

    return fasten


def cases(sources: Path | None, small: bool) -> list[Case]:
    """Return cases of the suite's deck, or small ones of random atoms."""
    if small or sources is None:
        rng = np.random.default_rng(1)
        deck = random_deck(rng)
        return [case(poses, *deck) for poses in (1, 2)]
    files = [(sources / DECK / f"{name}.in") for name in ("protein", "ligand", "forcefield")]
    arrays = [np.fromfile(f, t) for f, t in zip(files, (ATOM, ATOM, FORCES), strict=True)]
    transforms = np.fromfile(sources / DECK / "poses.in", np.float32).reshape(6, -1)
    return [case(poses, *arrays, transforms) for poses in (1, 2, 4, 8)]


def random_deck(rng: Any) -> tuple[np.ndarray, ...]:
    protein, ligand, forcefield = np.zeros(20, ATOM), np.zeros(5, ATOM), np.zeros(8, FORCES)
    for atoms in protein, ligand:
        for axis in "xyz":
            atoms[axis] = rng.uniform(-4, 4, atoms.shape)
        atoms["type"] = rng.integers(0, len(forcefield), atoms.shape)
    forcefield["hbtype"] = rng.choice([HBTYPE_E, HBTYPE_F, 45], forcefield.shape)
    forcefield["radius"] = rng.uniform(1, 2, forcefield.shape)
    forcefield["hphb"] = rng.choice([-0.7, 0, 0.4], forcefield.shape)
    forcefield["elsc"] = rng.choice([-1, 0, 1], forcefield.shape)
    return protein, ligand, forcefield, rng.uniform(-2, 2, (6, 256)).astype(np.float32)


def case(poses: int, *deck: np.ndarray) -> Case:
    protein, ligand, _, transforms = deck
    count = transforms.shape[1]
    blocks = -(-count // (poses * THREADS))
    return Case(
        f"miniBUDE, {poses} poses a thread",
        make_kernel(poses),
        (np.zeros(count, np.float32), *deck),
        (),
        (blocks,),
        (THREADS,),
        f"fasten_{poses}",
        (len(ligand), len(protein), count, blocks, THREADS),
        (0,),
        partial(expected, *deck),
        2.5e-4,  # as in the original
    )


def expected(
    protein: np.ndarray, ligand: np.ndarray, forcefield: np.ndarray, transforms: np.ndarray
) -> list[np.ndarray]:
    """Return the energies of all poses."""
    angles = transforms[:3].astype(np.float64)
    (sx, sy, sz), (cx, cy, cz) = np.sin(angles), np.cos(angles)
    rotation = np.array(
        [
            [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
            [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
            [-sy, sx * cy, cx * cy],
        ]
    )
    p = forcefield[protein["type"]]
    at_protein = np.stack([protein[axis] for axis in "xyz"])[:, :, None]
    energies = np.zeros(transforms.shape[1])
    for atom in ligand:
        l = forcefield[atom["type"]]  # noqa: E741
        at = np.einsum("abn,b->an", rotation, [atom[axis] for axis in "xyz"]) + transforms[3:]
        distance = np.sqrt(((at[:, None, :] - at_protein) ** 2).sum(0))  # of atoms and poses
        radii = (p["radius"] + l["radius"])[:, None]
        gap = distance - radii
        overlap = gap < 0
        energies += ((1 - distance / radii) * 2 * HARDNESS * overlap).sum(0)
        reach = np.where((p["hbtype"] == HBTYPE_F) & (l["hbtype"] == HBTYPE_F), 4, 2)[:, None]
        charge = (l["elsc"] * p["elsc"])[:, None] * np.where(overlap, 1, 1 - gap / reach)
        charge *= gap < reach
        is_e = ((p["hbtype"] == HBTYPE_E) | (l["hbtype"] == HBTYPE_E))[:, None]
        energies += (CNSTNT * np.where(is_e, -abs(charge), charge)).sum(0)
        p_hphb, l_hphb = p["hphb"], l["hphb"]
        both = p_hphb * np.where((p_hphb < 0) & (l_hphb > 0), -1, 1)
        both = both + l_hphb * np.where((p_hphb > 0) & (l_hphb < 0), -1, 1)
        negative = (p_hphb < 0) + 0 + (l_hphb < 0)
        limit = np.array([-FLOAT_MAX, NPPDIST, NPNPDIST])[negative][:, None]
        near = (gap < limit) & (p_hphb != 0)[:, None]
        energies += (both[:, None] * near * np.where(overlap, 1, 1 - gap / limit)).sum(0)
    return [energies / 2]
