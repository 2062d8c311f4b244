// Sort keys by std::sort's parallel form in libstdc++: multiway merge sort with OpenMP.
#include <cstddef>
#include <cstdint>
#include <parallel/algorithm>

extern "C" void sort_keys(std::uint32_t *keys, std::size_t size) {
    __gnu_parallel::sort(keys, keys + size);
}
