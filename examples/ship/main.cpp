// Compute 100 time steps on the CPU.
#include <cstdio>
#include <utility>
#include <vector>

#include "heat.hpp"

int main() {
    constexpr std::int64_t size = 64;
    std::vector<float> plate(size * size), next(size * size);
    for (int x = 0; x < size; x++) plate[x] = 100;  // the first row is hot
    try {
        for (int step = 0; step < 100; step++) {
            heat::diffuse({plate.data(), {size, size}}, {next.data(), {size, size}}, 0.2f,
                          {{size / 32, size / 8, 1}, {32, 8, 1}});
            std::swap(plate, next);
        }
    } catch (const pycu2c::error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::printf("%.6f\n", plate[5 * size + size / 2]);
}
