#define main main_of_hartree_fock
#include "hartree-fock/cuda/hartree-fock.cu"

extern "C" void fock_matrix(double *fock, double *dens, double *schwarz, double *geom, double *xpnt,
                            double *coef, int blocks, int natoms, int ngauss)
{
    // the first argument is not used
    hartree_fock<<<blocks, 256>>>(0, ngauss, natoms, geom, xpnt, coef, dens, schwarz, fock);
}
