// Launch the kernels of the library records from C++, on the CPU. Prints the results.
#include "records.hpp"

#include <cstdio>
#include <vector>

int main() {
    try {
        constexpr std::int64_t count = 5;
        std::vector<records_particle> particles(count);
        std::vector<records_message> messages(count);
        particles[0] = {{0, 2}, 7, {}, {1, 2}};
        std::vector<float> v{1, 2, 3, 4}, out(4);
        const pycu2c::configuration launch{{1, 1, 1}, {8, 1, 1}};
        records::move({particles.data(), {count}}, {messages.data(), {count}}, 0.5f, launch);
        records::shift({v.data(), {1, 4}}, {out.data(), {1, 4}}, launch);
        records_point point{1, 2};
        records::store({&point, {}}, {v.data(), {4}}, launch);
        const records_particle p = messages[0].from;
        std::printf("%g %g %d %g\n", p.at.x, p.at.y, static_cast<int>(p.hits), out[0] + out[3] + v[1] - 2);
    } catch (const pycu2c::error &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
