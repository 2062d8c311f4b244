// Launch the kernels of the library finance from C++: main cpu|cuda INPUT OUTPUT.
#include "finance.hpp"

#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

extern "C" {
#include "device_memory.h"
}

namespace {

constexpr std::int64_t count = 5000, height = 70, width = 71;

template <class T> T *copied(const std::vector<T> &values) {
    return static_cast<T *>(on_device(values.data(), values.size() * sizeof(T)));
}

template <class T> void fetch(std::vector<T> &values, T *memory) {
    from_device(values.data(), memory, values.size() * sizeof(T));
}

template <class T> void write(std::ostream &out, const std::vector<T> &values) {
    out.write(reinterpret_cast<const char *>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
}

void compute(std::istream &in, std::ostream &out) {
    std::vector<double> input(count), sums(20), prices(count);
    in.read(reinterpret_cast<char *>(input.data()), count * sizeof(double));
    std::vector<float> image(height * width), smooth(height * width);
    for (std::size_t i = 0; i < image.size(); i++) image[i] = static_cast<float>(input[i]);

    float *const a = copied(image), *const b = copied(smooth);
    finance::stencil({a, {height, width}, test_device}, {b, {height, width}, test_device}, 0.2f,
                     {{5, 9, 1}, {16, 8, 1}});
    fetch(smooth, b);
    fetch(image, a);

    double *const values = copied(input), *const totals = copied(sums), *const results = copied(prices);
    finance::block_sums({values, {count / 2}, {2}, test_device}, {totals, {20}, test_device}, 7,
                        {{20, 1, 1}, {128, 1, 1}});
    const pycu2c::array<const double, 1> options(values, {count}, test_device);
    finance::black_scholes(options, options, options, 0.02, 0.3, {results, {count}, test_device}, true,
                           {{20, 1, 1}});
    fetch(sums, totals);
    fetch(prices, results);
    fetch(input, values);
    write(out, smooth);
    write(out, sums);
    write(out, prices);
}

}  // namespace

int main(int argc, char **argv) {
    try {
        require(argc == 4, "main cpu|cuda INPUT OUTPUT");
        use_device(argv[1]);
        std::ifstream in(argv[2], std::ios::binary);
        std::ofstream out(argv[3], std::ios::binary);
        compute(in, out);
    } catch (const pycu2c::error &failure) {
        std::cerr << failure.what() << "\n";
        return 1;
    }
}
