// Pass containers and arrays of C++ to the kernels of the library finance.
#include "finance.hpp"

#include <array>
#include <iostream>
#include <vector>

int main() {
    const std::vector<double> ones(256, 1);
    std::array<double, 2> sums{};
    double first[2] = {};
    const pycu2c::configuration launch = {{2, 1, 1}, {128, 1, 1}};
    finance::block_sums(ones, sums, 28, launch);
    std::vector<double> copy = ones;
    const pycu2c::array<double, 1> written(copy);
    finance::block_sums(written, first, 0, launch);

    std::vector<float> prices(256, 1), results(256);
    finance::black_scholes(prices, prices, prices, 0, 1, results, false, launch);
    static_assert(!std::is_convertible_v<pycu2c::array<const float, 1>, pycu2c::array<float, 1>>);
    static_assert(!std::is_convertible_v<std::vector<float> &, pycu2c::array<const double, 1>>);
    static_assert(!std::is_convertible_v<const std::vector<float> &, pycu2c::array<float, 1>>);
    static_assert(!std::is_convertible_v<std::vector<float> &, pycu2c::array<const float, 2>>);
    std::cout << sums[0] << " " << sums[1] << " " << first[0] << " " << (results[255] > 0.3f) << "\n";
}
