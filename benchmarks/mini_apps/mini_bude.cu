#include <limits>
#include <stdexcept>

#include "miniBUDE/cuda/fasten.hpp"

#define EXPORT(POSES)                                                                             \
    extern "C" void fasten_##POSES(float *energies, const Atom *protein, const Atom *ligand,      \
                                   const FFParams *forcefield, const float *t, int natlig,        \
                                   int natpro, int n, int blocks, int threads)                    \
    {                                                                                             \
        fasten_main<POSES><<<blocks, threads>>>(natlig, natpro, protein, ligand, t, t + n,        \
                                                t + 2 * n, t + 3 * n, t + 4 * n, t + 5 * n,       \
                                                energies, forcefield, n);                         \
    }

EXPORT(1)
EXPORT(2)
EXPORT(4)
EXPORT(8)
