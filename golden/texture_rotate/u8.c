#include <math.h>
#include <stdint.h>
#include <string.h>

// A texture: its elements, and how they are read. The channels of an element are adjacent, and
// elements along x are.
typedef const struct texture_data {
    const void *elements;
    int64_t extents[3];
    int32_t modes[3];  // along each axis, outside of it: 0 wrap, 1 clamp, 2 mirror, 3 border
    int32_t axes, channels, is_linear, is_normalized;
    int32_t format;  // of a number: its bytes; plus 16 if it has a sign, 32 if it is a float
    double max_value;  // the number that is read as 1.0; 0 if numbers are read as they are
    double border[4];
} *texture;

// Return a channel of an element; for element -1, that of the border.
static inline double texture_channel(texture t, int64_t element, int channel) {
    if (element < 0) return t->border[channel];
    const int64_t index = element * t->channels + channel;
    switch (t->format) {
        case 1: return ((const uint8_t *)t->elements)[index];
        case 2: return ((const uint16_t *)t->elements)[index];
        case 4: return ((const uint32_t *)t->elements)[index];
        case 17: return ((const int8_t *)t->elements)[index];
        case 18: return ((const int16_t *)t->elements)[index];
        case 20: return ((const int32_t *)t->elements)[index];
        case 36: return ((const float *)t->elements)[index];
    }
    const int bits = ((const uint16_t *)t->elements)[index];  // a float of 16 bits
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    // the magnitude in units of 2^-24, the smallest subnormal number
    const int64_t units = exponent ? (int64_t)(1024 + fraction) << (exponent - 1) : fraction;
    const double magnitude = exponent < 31 ? (double)units / (1 << 24) : fraction ? NAN : INFINITY;
    return bits >> 15 ? -magnitude : magnitude;
}

// Return the position of a coordinate along an axis, in units of 2^-21 of an element.
static inline int64_t texture_position(texture t, int axis, float x) {
    const int repeats = t->modes[axis] == 0 || t->modes[axis] == 2;
    const double limit = repeats ? 1 << 30 : t->is_normalized ? 2 : t->extents[axis] + 2;
    double position = x == x ? x : 0;
    if (fabs(position) > limit) position = repeats ? 0 : copysign(limit, position);
    int64_t fixed_point = (int64_t)floor(position * 2097152);
    if (t->modes[axis] == 0) fixed_point &= 2097151;
    if (t->modes[axis] == 2) fixed_point &= 4194303;
    return t->is_normalized ? fixed_point * t->extents[axis] : fixed_point;
}

// Apply the address mode to the index of an element along an axis; return -1 for the border.
static inline int64_t texture_index(texture t, int axis, int64_t i) {
    const int64_t last = t->extents[axis] - 1;
    if (i >= 0 && i <= last) return i;
    if (t->modes[axis] == 3) return -1;
    if (t->modes[axis] == 0) return i < 0 ? last : 0;
    if (t->modes[axis] == 2 && i > last) return i > 2 * last + 1 ? 0 : 2 * last + 1 - i;
    return i < 0 ? 0 : last;
}

// Return the linear index of the element at these indices; -1 for the border.
static inline int64_t texture_element(texture t, const int64_t *i) {
    int64_t element = 0;
    for (int axis = t->axes - 1; axis >= 0; axis--) {
        const int64_t index = texture_index(t, axis, i[axis]);
        if (index < 0) return -1;
        element = element * t->extents[axis] + index;
    }
    return element;
}

// Compute the weights of the corners around a position, in 1/256, from its fractional part along
// each axis. Corner k is the next one along x if its bit 0 is set, along y for bit 1, along z for
// bit 2. Of three axes, x and z are combined first. The rounding is as measured on GPUs.
static inline void texture_weights(int axes, const int *fractions, int *weights) {
    const int x = fractions[0], second = axes == 3 ? fractions[2] : axes == 2 ? fractions[1] : 0;
    const int x_and_other = (x * second + 128) >> 8;
    const int only_x = axes == 3 ? (x * (256 - second) + 128) >> 8 : x - x_and_other;
    const int pair_weights[4] = {256 - second - only_x, only_x, second - x_and_other, x_and_other};
    for (int k = 0; k < 1 << axes; k++) {
        if (axes < 3) {
            weights[k] = pair_weights[k];
            continue;
        }
        const int pair_weight = pair_weights[(k & 1) | (k >> 1 & 2)];
        const int next_weight = (pair_weight * fractions[1] + 127 + (k & 1)) >> 8;
        weights[k] = k & 2 ? next_weight : pair_weight - next_weight;
    }
}

// Round x to a float with this many bits, ties away from 0.
static inline double texture_round(double x, int bits) {
    const uint64_t unit = (uint64_t)1 << (53 - bits);
    uint64_t value;
    memcpy(&value, &x, sizeof x);
    value = (value + unit / 2) & ~(unit - 1);
    memcpy(&x, &value, sizeof x);
    return x;
}

// Round x to float16, whose subnormal numbers have fewer bits.
static inline double texture_round_half(double x) {
    const double smallest = 1.0 / (1 << 24);
    return fabs(x) < 1024 * smallest ? copysign(floor(fabs(x) / smallest + 0.5) * smallest, x)
                                     : texture_round(x, 11);
}

// Read the channels of the element at a position.
static inline void texture_nearest(texture t, const int64_t *position, double *values) {
    int64_t index[3] = {0};
    for (int axis = 0; axis < t->axes; axis++) index[axis] = position[axis] >> 21;
    const int64_t element = texture_element(t, index);
    for (int channel = 0; channel < t->channels; channel++) {
        const double value = texture_channel(t, element, channel);
        values[channel] = t->max_value == 0 ? value : fmax(value / t->max_value, -1);
    }
}

// Scale a weighted sum of integers, in 1/256, to an integer of 16 bits. Sums of 8-bit integers are
// scaled without the last bits of the sum.
static inline double texture_scale(texture t, double sum) {
    if ((t->format & 15) == 2) return floor(sum / 256 + 0.5);
    return sum + floor(floor(sum / 16) * 16 * 255 / (256 * t->max_value) + 0.5);
}

// Linear filtering: compute the weighted means of the elements around a position.
static inline void texture_linear(texture t, const int64_t *position, double *values) {
    int64_t first_corner[3] = {0};
    int fractions[3] = {0}, weights[8];
    for (int axis = 0; axis < t->axes; axis++) {
        const int64_t half_element = 1048576, last = (t->extents[axis] << 21) - half_element;
        int64_t x = position[axis];
        if (t->modes[axis] == 1) x = x < half_element ? half_element : x > last ? last : x;
        const int64_t fixed_point = (x - half_element + 4096) >> 13;  // in 1/256, rounded
        first_corner[axis] = fixed_point >> 8;
        fractions[axis] = (int)(fixed_point & 255);
    }
    texture_weights(t->axes, fractions, weights);
    for (int channel = 0; channel < t->channels; channel++) values[channel] = 0;
    for (int k = 0; k < 1 << t->axes; k++) {
        int64_t corner[3];
        for (int axis = 0; axis < 3; axis++) corner[axis] = first_corner[axis] + (k >> axis & 1);
        const int64_t element = texture_element(t, corner);
        for (int channel = 0; channel < t->channels; channel++)
            values[channel] += weights[k] * texture_channel(t, element, channel);
    }
    const int is_half = t->format == 34;
    const double max_integer = t->format & 16 ? 32767 : 65535;
    for (int channel = 0; channel < t->channels; channel++) {
        double value = values[channel] / 256;
        if (t->max_value != 0) value = fmax(texture_scale(t, values[channel]) / max_integer, -1);
        values[channel] = is_half ? texture_round_half(value) : texture_round(value, 24);
    }
}

// Read the channels of a texture at the given coordinates.
static inline void texture_fetch(texture t, const float *coordinates, double *values) {
    int64_t position[3] = {0};
    for (int axis = 0; axis < t->axes; axis++)
        position[axis] = texture_position(t, axis, coordinates[axis]);
    if (t->is_linear)
        texture_linear(t, position, values);
    else
        texture_nearest(t, position, values);
}

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct rotate_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    texture p0_value0;
    float p1_value0;
    float p2_value0;
    uint8_t *p3_data0;
    int64_t p3_shape0;
    int64_t p3_shape1;
};

// Fetches from a texture.
static inline uint8_t tex2D_u8(texture t, float x, float y) {
    const float at[3] = {x, y};
    double numbers[4];
    texture_fetch(t, at, numbers);
    return (uint8_t)numbers[0];
}

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void rotate(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct rotate_args *const args = arguments;
    texture image = args->p0_value0;
    float cos_ = args->p1_value0;
    float sin_ = args->p2_value0;
    uint8_t *out = args->p3_data0;
    int64_t out_shape0 = args->p3_shape0;
    int64_t out_shape1 = args->p3_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    const struct dim3 blockDim = {args->blockDim[0], args->blockDim[1], args->blockDim[2]};
    int64_t next_block;
    for (int64_t block = first_block; block < last_block; block = next_block) {
        const int64_t row_end = (block / gridDim.x + 1) * gridDim.x;
        next_block = row_end < last_block ? row_end : last_block;
        const int64_t first_x = (block % gridDim.x) * blockDim.x;
        const int64_t last_x = first_x + (next_block - block) * blockDim.x;
        const int64_t first_y = ((block / gridDim.x) % gridDim.y) * blockDim.y;
        const int64_t last_y = first_y + blockDim.y;
        int64_t height = out_shape0;
        int64_t width = out_shape1;
        for (int64_t y = first_y; y < min_i64(last_y, height); ++y) {
            float v = y + 0.5f - height / 2.0f;
            #pragma omp simd
            for (int64_t x = first_x; x < min_i64(last_x, width); ++x) {
                float u = x + 0.5f - width / 2.0f;
                out[y * width + x] = tex2D_u8(image, cos_ * u - sin_ * v + width / 2.0f, sin_ * u + cos_ * v + height / 2.0f);
            }
        }
    }
}
