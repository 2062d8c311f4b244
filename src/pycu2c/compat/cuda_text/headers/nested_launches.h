/* Launches from kernels: the threads of the kernel run one after the other, in the thread that launches
 * them. The arguments are evaluated before threadIdx changes. */
namespace pycu2c {

template <typename F, typename... A>
static void launch(dim3 grid, dim3 block, F kernel, A... arguments) {
    const uint3 thread = ::threadIdx, at = ::blockIdx;
    const dim3 outer_grid = ::gridDim, outer_block = ::blockDim;
    uint3 &b = ::blockIdx, &t = ::threadIdx;
    ::gridDim = grid, ::blockDim = block;
    for (b.z = 0; b.z < grid.z; b.z++)
        for (b.y = 0; b.y < grid.y; b.y++)
            for (b.x = 0; b.x < grid.x; b.x++)
                for (t.z = 0; t.z < block.z; t.z++)
                    for (t.y = 0; t.y < block.y; t.y++)
                        for (t.x = 0; t.x < block.x; t.x++) kernel(arguments...);
    ::threadIdx = thread, ::blockIdx = at, ::gridDim = outer_grid, ::blockDim = outer_block;
}

} // namespace pycu2c
