/* Launch the kernels of the library finance from C: main cpu|cuda INPUT OUTPUT. */
#include "finance.h"

#include "device_memory.h"

enum { COUNT = 5000, HEIGHT = 70, WIDTH = 71 };

static double input[COUNT], prices[COUNT], sums[20];
static float image[HEIGHT * WIDTH], smooth[HEIGHT * WIDTH];

static DLTensor tensor(void *data, uint8_t bits, int ndim, int64_t *shape, int64_t *strides) {
    const DLTensor result = {data, test_device, ndim, {kDLFloat, bits, 1}, shape, strides, 0};
    return result;
}

static void check(pycu2c_status status) {
    require(status == PYCU2C_SUCCESS, finance_last_error());
}

static void compute_stencil(void) {
    int64_t shape[] = {HEIGHT, WIDTH};
    void *const a = on_device(image, sizeof image), *const out = on_device(smooth, sizeof smooth);
    const DLTensor from = tensor(a, 32, 2, shape, NULL), to = tensor(out, 32, 2, shape, NULL);
    const pycu2c_dim3 grid = {5, 9, 1}, block = {16, 8, 1};
    check(finance_stencil_launch(&from, &to, 0.2, grid, block, 0, NULL));
    from_device(smooth, out, sizeof smooth);
    from_device(image, a, sizeof image);
}

static void compute_sums(void) {
    int64_t shape[] = {COUNT / 2}, strides[] = {2}, count[] = {20};
    void *const a = on_device(input, sizeof input), *const out = on_device(sums, sizeof sums);
    const DLTensor from = tensor(a, 64, 1, shape, strides), to = tensor(out, 64, 1, count, NULL);
    const pycu2c_dim3 grid = {20, 1, 1}, block = {128, 1, 1};
    check(finance_block_sums_launch(&from, &to, 7, grid, block, 0, NULL));
    from_device(sums, out, sizeof sums);
    from_device(input, a, sizeof input);
}

static void compute_prices(void) {
    int64_t shape[] = {COUNT};
    void *const a = on_device(input, sizeof input), *const out = on_device(prices, sizeof prices);
    const DLTensor from = tensor(a, 64, 1, shape, NULL), to = tensor(out, 64, 1, shape, NULL);
    const pycu2c_dim3 grid = {20, 1, 1}, block = {256, 1, 1};
    check(finance_black_scholes_launch(&from, &from, &from, 0.02, 0.3, &to, true, grid, block, 0, NULL));
    from_device(prices, out, sizeof prices);
    from_device(input, a, sizeof input);
}

int main(int argc, char **argv) {
    require(argc == 4, "main cpu|cuda INPUT OUTPUT");
    use_device(argv[1]);
    FILE *const in = fopen(argv[2], "rb"), *const out = fopen(argv[3], "wb");
    require(in && out && fread(input, sizeof *input, COUNT, in) == COUNT, "no input");
    for (int i = 0; i < HEIGHT * WIDTH; i++) image[i] = (float)input[i];
    compute_stencil();
    compute_sums();
    compute_prices();
    fwrite(smooth, sizeof smooth, 1, out);
    fwrite(sums, sizeof sums, 1, out);
    fwrite(prices, sizeof prices, 1, out);
    require(fclose(out) == 0 && fclose(in) == 0, "the results cannot be written");
    return 0;
}
