/* Launch the kernels of the library records from C: records cpu|cuda. Prints the results. */
#include "records.h"

#include "device_memory.h"

enum { COUNT = 5 };

static void check(pycu2c_status status) {
    require(status == PYCU2C_SUCCESS, records_last_error());
}

int main(int argc, char **argv) {
    struct records_particle particles[2 * COUNT] = {{{0, 2}, 7, {{0}}, {1, 2}}};
    struct records_message messages[COUNT] = {{0}};
    float v[COUNT][4] = {{1, 2, 3, 4}}, out[COUNT][4];
    int64_t count[] = {COUNT}, strides[] = {2}, with_lanes[] = {COUNT, 4};
    const pycu2c_dim3 grid = {1, 1, 1}, block = {8, 1, 1};
    const DLDataType float4 = {kDLFloat, 32, 4}, float1 = {kDLFloat, 32, 1};
    require(argc == 2, "records cpu|cuda");
    use_device(argv[1]);
    const DLTensor ps = {on_device(particles, sizeof particles), test_device, 1,
                         {kDLUInt, 8, sizeof *particles}, count, strides, 0};
    const DLTensor to = {on_device(messages, sizeof messages), test_device, 1,
                         {kDLUInt, 8, sizeof *messages}, count, NULL, 0};
    const DLTensor from = {on_device(v, sizeof v), test_device, 1, float4, count, NULL, 0};
    const DLTensor result = {on_device(out, sizeof out), test_device, 2, float1, with_lanes, NULL, 0};
    check(records_move_launch(&ps, &to, 0.5, grid, block, 0, NULL));
    check(records_shift_launch(&from, &result, grid, block, 0, NULL));
    from_device(particles, ps.data, sizeof particles);
    from_device(messages, to.data, sizeof messages);
    from_device(out, result.data, sizeof out);
    from_device(v, from.data, sizeof v);
    for (int i = 0; i < COUNT; i++) {
        const struct records_particle p = messages[i].from;
        printf("%g %g %d %g %g %g %d %g\n", p.at.x, p.at.y, (int)p.hits, p.way[1][2], p.spin[1],
               messages[i].time, messages[i].level, out[i][0] + out[i][3]);
        require(memcmp(&p, &particles[2 * i], sizeof p) == 0, "another particle");
    }
    return 0;
}
