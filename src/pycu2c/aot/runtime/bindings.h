/* The calls of kernels by frameworks: descriptions of parameters, and their values.
 *
 * You may use, change and distribute this file freely, for any purpose and without conditions.
 */
#include <stdio.h>
#include <string.h>

enum { MAX_ARGUMENTS = 64, MAX_MESSAGE = 512 };

/* READ: an array that the kernel only reads. WRITTEN: an array that it writes. */
enum kind { READ, WRITTEN, REAL, INTEGER, COMPLEX };

struct parameter {
    const char *name;
    enum kind kind;
};

union value {
    const DLTensor *array;
    double real;
    int64_t integer;
    pycu2c_complex complex_number;
};

struct call {
    union value values[MAX_ARGUMENTS]; /* one for each parameter */
    pycu2c_dim3 grid, block;
    size_t shared_bytes;
    void *stream;
};

struct kernel {
    const char *name;
    const struct parameter *parameters;
    int parameter_count;
    pycu2c_status (*launch)(const struct call *call);
};

/* Store 1 to 3 lengths. Return false for another number of lengths, and for lengths that do not fit. */
static bool store_lengths(pycu2c_dim3 *to, const int64_t *lengths, int64_t count) {
    uint32_t stored[] = {1, 1, 1};
    if (count < 1 || count > 3) return false;
    for (int64_t i = 0; i < count; i++) {
        if (lengths[i] < 0 || lengths[i] > UINT32_MAX) return false;
        stored[i] = (uint32_t)lengths[i];
    }
    *to = (pycu2c_dim3){stored[0], stored[1], stored[2]};
    return true;
}
