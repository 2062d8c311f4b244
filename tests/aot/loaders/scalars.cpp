// Launch the kernels of the library scalars from C++, on the CPU. Prints the results.
#include "scalars.hpp"

#include <complex>
#include <cstdio>

int main() {
    using namespace std::complex_literals;
    std::complex<double> x[] = {2, 1i}, out[2];
    std::complex<float> c[] = {1, 2};
    float f[] = {1, 2};
    const pycu2c::configuration launch{{1, 1, 1}, {8, 1, 1}};
    try {
        scalars::combine({x, {2}}, 0.1f, {1, 2}, 3, 1.0 - 1i, 3, {out, {2}}, launch);
        scalars::scale({c, {2}}, {0, 2}, launch);
        scalars::scale({f, {2}}, 3, launch);
    } catch (const pycu2c::error &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    std::printf("%.9g %g %g %g\n", out[1].real(), out[1].imag(), c[1].imag(), f[1]);
}
