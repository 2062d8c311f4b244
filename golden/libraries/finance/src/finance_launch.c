#define _GNU_SOURCE  /* for the cores of the process */
#include "finance.h"
#define PYCU2C_HAS_CPU
#define PYCU2C_IMAGES "../finance_images.h"
#include "runtime/launch.h"

/* ---- stencil ---- */
static const struct argument stencil_arguments[] = {
    {"a", {kDLFloat, 32, 1}, 2, true, false, 0},
    {"out", {kDLFloat, 32, 1}, 2, true, false, 0},
    {"weight", {kDLFloat, 32, 1}, IS_NUMBER, false, true, 0},
};
kernel_body finance_stencil_block_body, finance_stencil_block_body_avx512;
static const struct parameter finance_stencil_block_body_on_cpu[] = {{DATA, 0, 0, 8},
        {SHAPE, 0, 0, 8}, {SHAPE, 0, 1, 8}, {DATA, 1, 0, 8}, {SHAPE, 1, 1, 8}, {VALUE, 2, 0, 4}};
kernel_body finance_stencil_body, finance_stencil_body_avx512;
static const struct parameter finance_stencil_body_on_cpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 8},
        {SHAPE, 0, 1, 8}, {DATA, 1, 0, 8}, {SHAPE, 1, 1, 8}, {VALUE, 2, 0, 4}};
static loaded_kernel stencil_loaded[IMAGE_COUNT];
static const struct parameter stencil_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 4},
        {SHAPE, 0, 1, 4}, {DATA, 1, 0, 8}, {SHAPE, 1, 1, 4}, {VALUE, 2, 0, 4}};
static loaded_kernel stencil_large_loaded[IMAGE_COUNT];
static const struct parameter stencil_large_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 8},
        {SHAPE, 0, 1, 8}, {DATA, 1, 0, 8}, {SHAPE, 1, 1, 8}, {VALUE, 2, 0, 4}};
static const struct variant stencil_variants[] = {
    {.needs_small_indices = true, .block = {16, 8, 1}, .body = finance_stencil_block_body,
     .cpu_parameters = {finance_stencil_block_body_on_cpu, 6},
     .avx512 = AVX512(finance_stencil_block_body_avx512)},
    {.needs_small_indices = true, .body = finance_stencil_body,
     .cpu_parameters = {finance_stencil_body_on_cpu, 6},
     .avx512 = AVX512(finance_stencil_body_avx512), .entry = "stencil", .loaded = stencil_loaded,
     .module = 0, .gpu_parameters = {stencil_on_gpu, 6}},
    {.body = finance_stencil_body, .cpu_parameters = {finance_stencil_body_on_cpu, 6},
     .avx512 = AVX512(finance_stencil_body_avx512), .entry = "stencil_large",
     .loaded = stencil_large_loaded, .module = 0, .gpu_parameters = {stencil_large_on_gpu, 6}},
};

static const struct signature stencil_signatures[] = {
    {stencil_arguments, stencil_variants, 3},
};
static const struct kernel stencil_kernel = {
    .name = "stencil",
    .argument_count = 3,
    .signatures = stencil_signatures,
    .signature_count = 1,
    .rules = NULL,
    .rule_count = 0,
    .max_threads = 1024,
    .cluster = {1, 1, 1},
    .is_cooperative = false,
};

/* ---- block_sums ---- */
static const struct argument block_sums_arguments[] = {
    {"a", {kDLFloat, 64, 1}, 1, false, false, 0},
    {"sums", {kDLFloat, 64, 1}, 1, true, false, 0},
    {"first", {kDLInt, 32, 1}, IS_NUMBER, false, false, INT64_C(1073741823)},
};
kernel_body finance_block_sums_block_body, finance_block_sums_block_body_avx512;
static const struct parameter finance_block_sums_block_body_on_cpu[] = {{DATA, 0, 0, 8},
        {SHAPE, 0, 0, 8}, {STRIDE, 0, 0, 8}, {DATA, 1, 0, 8}, {VALUE, 2, 0, 4}};
kernel_body finance_block_sums_body, finance_block_sums_body_avx512;
static const struct parameter finance_block_sums_body_on_cpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 8},
        {STRIDE, 0, 0, 8}, {DATA, 1, 0, 8}, {VALUE, 2, 0, 4}};
static loaded_kernel block_sums_loaded[IMAGE_COUNT];
static const struct parameter block_sums_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 4},
        {STRIDE, 0, 0, 4}, {DATA, 1, 0, 8}, {VALUE, 2, 0, 4}};
static loaded_kernel block_sums_large_loaded[IMAGE_COUNT];
static const struct parameter block_sums_large_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 8},
        {STRIDE, 0, 0, 8}, {DATA, 1, 0, 8}, {VALUE, 2, 0, 4}};
static const struct variant block_sums_variants[] = {
    {.needs_small_indices = true, .block = {128, 1, 1}, .body = finance_block_sums_block_body,
     .cpu_parameters = {finance_block_sums_block_body_on_cpu, 5},
     .avx512 = AVX512(finance_block_sums_block_body_avx512)},
    {.needs_small_indices = true, .body = finance_block_sums_body,
     .cpu_parameters = {finance_block_sums_body_on_cpu, 5},
     .avx512 = AVX512(finance_block_sums_body_avx512), .entry = "block_sums",
     .loaded = block_sums_loaded, .module = 0, .gpu_parameters = {block_sums_on_gpu, 5}},
    {.body = finance_block_sums_body, .cpu_parameters = {finance_block_sums_body_on_cpu, 5},
     .avx512 = AVX512(finance_block_sums_body_avx512), .entry = "block_sums_large",
     .loaded = block_sums_large_loaded, .module = 0, .gpu_parameters = {block_sums_large_on_gpu, 5}},
};

static const struct signature block_sums_signatures[] = {
    {block_sums_arguments, block_sums_variants, 3},
};
static const struct kernel block_sums_kernel = {
    .name = "block_sums",
    .argument_count = 3,
    .signatures = block_sums_signatures,
    .signature_count = 1,
    .rules = NULL,
    .rule_count = 0,
    .max_threads = 1024,
    .cluster = {1, 1, 1},
    .is_cooperative = false,
};

/* ---- black_scholes ---- */
static const struct argument black_scholes_f32_arguments[] = {
    {"price", {kDLFloat, 32, 1}, 1, true, false, 0},
    {"strike", {kDLFloat, 32, 1}, 1, true, false, 0},
    {"years", {kDLFloat, 32, 1}, 1, true, false, 0},
    {"rate", {kDLFloat, 32, 1}, IS_NUMBER, false, true, 0},
    {"volatility", {kDLFloat, 32, 1}, IS_NUMBER, false, true, 0},
    {"result", {kDLFloat, 32, 1}, 1, true, false, 0},
    {"is_put", {kDLBool, 8, 1}, IS_NUMBER, false, false, 0},
};
kernel_body finance_black_scholes_f32_body, finance_black_scholes_f32_body_avx512;
static const struct parameter finance_black_scholes_f32_body_on_cpu[] = {{DATA, 0, 0, 8},
        {SHAPE, 0, 0, 8}, {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 4}, {VALUE, 4, 0, 4},
        {DATA, 5, 0, 8}, {VALUE, 6, 0, 1}};
static loaded_kernel black_scholes_f32_loaded[IMAGE_COUNT];
static const struct parameter black_scholes_f32_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 4},
        {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 4}, {VALUE, 4, 0, 4}, {DATA, 5, 0, 8},
        {VALUE, 6, 0, 1}};
kernel_body finance_black_scholes_f32_large_body, finance_black_scholes_f32_large_body_avx512;
static const struct parameter finance_black_scholes_f32_large_body_on_cpu[] = {{DATA, 0, 0, 8},
        {SHAPE, 0, 0, 8}, {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 4}, {VALUE, 4, 0, 4},
        {DATA, 5, 0, 8}, {VALUE, 6, 0, 1}};
static loaded_kernel black_scholes_f32_large_loaded[IMAGE_COUNT];
static const struct parameter black_scholes_f32_large_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 8},
        {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 4}, {VALUE, 4, 0, 4}, {DATA, 5, 0, 8},
        {VALUE, 6, 0, 1}};
static const struct variant black_scholes_f32_variants[] = {
    {.needs_small_indices = true, .body = finance_black_scholes_f32_body,
     .cpu_parameters = {finance_black_scholes_f32_body_on_cpu, 8},
     .avx512 = AVX512(finance_black_scholes_f32_body_avx512), .entry = "black_scholes_f32",
     .loaded = black_scholes_f32_loaded, .module = 0,
     .gpu_parameters = {black_scholes_f32_on_gpu, 8}},
    {.body = finance_black_scholes_f32_large_body,
     .cpu_parameters = {finance_black_scholes_f32_large_body_on_cpu, 8},
     .avx512 = AVX512(finance_black_scholes_f32_large_body_avx512),
     .entry = "black_scholes_f32_large", .loaded = black_scholes_f32_large_loaded, .module = 0,
     .gpu_parameters = {black_scholes_f32_large_on_gpu, 8}},
};
static const struct argument black_scholes_f64_arguments[] = {
    {"price", {kDLFloat, 64, 1}, 1, true, false, 0},
    {"strike", {kDLFloat, 64, 1}, 1, true, false, 0},
    {"years", {kDLFloat, 64, 1}, 1, true, false, 0},
    {"rate", {kDLFloat, 64, 1}, IS_NUMBER, false, true, 0},
    {"volatility", {kDLFloat, 64, 1}, IS_NUMBER, false, true, 0},
    {"result", {kDLFloat, 64, 1}, 1, true, false, 0},
    {"is_put", {kDLBool, 8, 1}, IS_NUMBER, false, false, 0},
};
kernel_body finance_black_scholes_f64_body, finance_black_scholes_f64_body_avx512;
static const struct parameter finance_black_scholes_f64_body_on_cpu[] = {{DATA, 0, 0, 8},
        {SHAPE, 0, 0, 8}, {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 8}, {VALUE, 4, 0, 8},
        {DATA, 5, 0, 8}, {VALUE, 6, 0, 1}};
static loaded_kernel black_scholes_f64_loaded[IMAGE_COUNT];
static const struct parameter black_scholes_f64_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 4},
        {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 8}, {VALUE, 4, 0, 8}, {DATA, 5, 0, 8},
        {VALUE, 6, 0, 1}};
kernel_body finance_black_scholes_f64_large_body, finance_black_scholes_f64_large_body_avx512;
static const struct parameter finance_black_scholes_f64_large_body_on_cpu[] = {{DATA, 0, 0, 8},
        {SHAPE, 0, 0, 8}, {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 8}, {VALUE, 4, 0, 8},
        {DATA, 5, 0, 8}, {VALUE, 6, 0, 1}};
static loaded_kernel black_scholes_f64_large_loaded[IMAGE_COUNT];
static const struct parameter black_scholes_f64_large_on_gpu[] = {{DATA, 0, 0, 8}, {SHAPE, 0, 0, 8},
        {DATA, 1, 0, 8}, {DATA, 2, 0, 8}, {VALUE, 3, 0, 8}, {VALUE, 4, 0, 8}, {DATA, 5, 0, 8},
        {VALUE, 6, 0, 1}};
static const struct variant black_scholes_f64_variants[] = {
    {.needs_small_indices = true, .body = finance_black_scholes_f64_body,
     .cpu_parameters = {finance_black_scholes_f64_body_on_cpu, 8},
     .avx512 = AVX512(finance_black_scholes_f64_body_avx512), .entry = "black_scholes_f64",
     .loaded = black_scholes_f64_loaded, .module = 0,
     .gpu_parameters = {black_scholes_f64_on_gpu, 8}},
    {.body = finance_black_scholes_f64_large_body,
     .cpu_parameters = {finance_black_scholes_f64_large_body_on_cpu, 8},
     .avx512 = AVX512(finance_black_scholes_f64_large_body_avx512),
     .entry = "black_scholes_f64_large", .loaded = black_scholes_f64_large_loaded, .module = 0,
     .gpu_parameters = {black_scholes_f64_large_on_gpu, 8}},
};

static const struct signature black_scholes_signatures[] = {
    {black_scholes_f32_arguments, black_scholes_f32_variants, 2},
    {black_scholes_f64_arguments, black_scholes_f64_variants, 2},
};
static const struct kernel black_scholes_kernel = {
    .name = "black_scholes",
    .argument_count = 7,
    .signatures = black_scholes_signatures,
    .signature_count = 2,
    .rules = NULL,
    .rule_count = 0,
    .max_threads = 1024,
    .cluster = {1, 1, 1},
    .is_cooperative = false,
};

FINANCE_API const char *finance_last_error(void) {
    return message;
}

FINANCE_API pycu2c_status finance_stencil_launch(const DLTensor *a, const DLTensor *out,
                                                 double weight, pycu2c_dim3 grid, pycu2c_dim3 block,
                                                 size_t shared_bytes, void *stream) {
    const void *const arguments[] = {a, out, &weight};
    struct launch l = {.kernel = &stencil_kernel, .arguments = arguments, .grid = grid,
                       .block = block, .shared_bytes = shared_bytes, .stream = stream};
    return launch(&l);
}

FINANCE_API pycu2c_status finance_block_sums_launch(const DLTensor *a, const DLTensor *sums,
        int64_t first, pycu2c_dim3 grid, pycu2c_dim3 block, size_t shared_bytes, void *stream) {
    const void *const arguments[] = {a, sums, &first};
    struct launch l = {.kernel = &block_sums_kernel, .arguments = arguments, .grid = grid,
                       .block = block, .shared_bytes = shared_bytes, .stream = stream};
    return launch(&l);
}

FINANCE_API pycu2c_status finance_black_scholes_launch(const DLTensor *price,
        const DLTensor *strike, const DLTensor *years, double rate, double volatility,
        const DLTensor *result, bool is_put, pycu2c_dim3 grid, pycu2c_dim3 block,
        size_t shared_bytes, void *stream) {
    const int64_t is_put_number = is_put;
    const void *const arguments[] = {price, strike, years, &rate, &volatility, result,
                                     &is_put_number};
    struct launch l = {.kernel = &black_scholes_kernel, .arguments = arguments, .grid = grid,
                       .block = block, .shared_bytes = shared_bytes, .stream = stream};
    return launch(&l);
}
