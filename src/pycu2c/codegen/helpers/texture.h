// A texture: its elements, and how they are read. The channels of an element are adjacent, and
// elements along x are.
typedef const struct texture_data {
    const void *elements;
    int64_t extents[3];
    int32_t modes[3];  // along each axis, outside of it: 0 wrap, 1 clamp, 2 mirror, 3 border
    int32_t axes, channels, is_linear, is_normalized;
    int32_t format;  // of a number: its bytes; plus 16 if it has a sign, 32 if it is a float
    double most;  // the number that is read as 1.0; 0 if numbers are read as they are
    double border[4];
} *texture;

// A channel of an element; of element -1, of the border.
static inline double texture_number(texture t, int64_t element, int channel) {
    if (element < 0) return t->border[channel];
    const int64_t at = element * t->channels + channel;
    switch (t->format) {
        case 1: return ((const uint8_t *)t->elements)[at];
        case 2: return ((const uint16_t *)t->elements)[at];
        case 4: return ((const uint32_t *)t->elements)[at];
        case 17: return ((const int8_t *)t->elements)[at];
        case 18: return ((const int16_t *)t->elements)[at];
        case 20: return ((const int32_t *)t->elements)[at];
        case 36: return ((const float *)t->elements)[at];
    }
    const int bits = ((const uint16_t *)t->elements)[at];  // a float of 16 bits
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const int64_t ones = exponent ? (int64_t)(1024 + fraction) << (exponent - 1) : fraction;
    const double size = exponent < 31 ? (double)ones / (1 << 24) : fraction ? NAN : INFINITY;
    return bits >> 15 ? -size : size;
}

// The position of a coordinate along an axis, in units of 2^-21 of an element.
static inline int64_t texture_place(texture t, int axis, float x) {
    const int repeats = t->modes[axis] == 0 || t->modes[axis] == 2;
    const double far = repeats ? 1 << 30 : t->is_normalized ? 2 : t->extents[axis] + 2;
    double place = x == x ? x : 0;
    if (fabs(place) > far) place = repeats ? 0 : copysign(far, place);
    int64_t fixed = (int64_t)floor(place * 2097152);
    if (t->modes[axis] == 0) fixed &= 2097151;
    if (t->modes[axis] == 2) fixed &= 4194303;
    return t->is_normalized ? fixed * t->extents[axis] : fixed;
}

// The index of an element after the address mode is applied; -1 for the border.
static inline int64_t texture_index(texture t, int axis, int64_t i) {
    const int64_t last = t->extents[axis] - 1;
    if (i >= 0 && i <= last) return i;
    if (t->modes[axis] == 3) return -1;
    if (t->modes[axis] == 0) return i < 0 ? last : 0;
    if (t->modes[axis] == 2 && i > last) return i > 2 * last + 1 ? 0 : 2 * last + 1 - i;
    return i < 0 ? 0 : last;
}

// The element at these indices; -1 for the border.
static inline int64_t texture_element(texture t, const int64_t *i) {
    int64_t element = 0;
    for (int axis = t->axes - 1; axis >= 0; axis--) {
        const int64_t index = texture_index(t, axis, i[axis]);
        if (index < 0) return -1;
        element = element * t->extents[axis] + index;
    }
    return element;
}

// Weights of the corners around a position, in 1/256: corner k is the next one along x if its
// bit 0 is set, along y for bit 1, along z for bit 2. Of three axes, x and z are paired first.
// The rounding of halves of 1/256 is as measured.
static inline void texture_weights(int axes, const int *part, int *weights) {
    const int x = part[0], other = axes == 3 ? part[2] : axes == 2 ? part[1] : 0;
    const int both = (x * other + 128) >> 8;
    const int before = axes == 3 ? (x * (256 - other) + 128) >> 8 : x - both;
    const int pair[4] = {256 - other - before, before, other - both, both};
    for (int k = 0; k < 1 << axes; k++) {
        if (axes < 3) {
            weights[k] = pair[k];
            continue;
        }
        const int whole = pair[(k & 1) | (k >> 1 & 2)];
        const int next = (whole * part[1] + 127 + (k & 1)) >> 8;
        weights[k] = k & 2 ? next : whole - next;
    }
}

// x rounded to a float with this many bits, ties away from 0.
static inline double texture_rounded(double x, int bits) {
    const uint64_t one = (uint64_t)1 << (53 - bits);
    uint64_t number;
    memcpy(&number, &x, sizeof x);
    number = (number + one / 2) & ~(one - 1);
    memcpy(&x, &number, sizeof x);
    return x;
}

// x rounded to float16, whose subnormal numbers have fewer bits.
static inline double texture_half(double x) {
    const double least = 1.0 / (1 << 24);
    return fabs(x) < 1024 * least ? copysign(floor(fabs(x) / least + 0.5) * least, x)
                                  : texture_rounded(x, 11);
}

// The channels of the element at a position.
static inline void texture_nearest(texture t, const int64_t *place, double *numbers) {
    int64_t index[3] = {0};
    for (int axis = 0; axis < t->axes; axis++) index[axis] = place[axis] >> 21;
    const int64_t element = texture_element(t, index);
    for (int channel = 0; channel < t->channels; channel++) {
        const double number = texture_number(t, element, channel);
        numbers[channel] = t->most == 0 ? number : fmax(number / t->most, -1);
    }
}

// A sum of integers in 1/256, as an integer of 16 bits. Sums of 8-bit integers are scaled to
// 16 bits without the last bits of the sum.
static inline double texture_scaled(texture t, double sum) {
    if ((t->format & 15) == 2) return floor(sum / 256 + 0.5);
    return sum + floor(floor(sum / 16) * 16 * 255 / (256 * t->most) + 0.5);
}

// The weighted means of the elements around a position.
static inline void texture_blended(texture t, const int64_t *place, double *numbers) {
    int64_t first[3] = {0};
    int part[3] = {0}, weights[8];
    for (int axis = 0; axis < t->axes; axis++) {
        const int64_t middle = 1048576, last = (t->extents[axis] << 21) - middle;
        int64_t at = place[axis];
        if (t->modes[axis] == 1) at = at < middle ? middle : at > last ? last : at;
        const int64_t fixed = (at - middle + 4096) >> 13;
        first[axis] = fixed >> 8;
        part[axis] = (int)(fixed & 255);
    }
    texture_weights(t->axes, part, weights);
    for (int channel = 0; channel < t->channels; channel++) numbers[channel] = 0;
    for (int k = 0; k < 1 << t->axes; k++) {
        int64_t corner[3];
        for (int axis = 0; axis < 3; axis++) corner[axis] = first[axis] + (k >> axis & 1);
        const int64_t element = texture_element(t, corner);
        for (int channel = 0; channel < t->channels; channel++)
            numbers[channel] += weights[k] * texture_number(t, element, channel);
    }
    const int is_half = t->format == 34;
    const double full = t->format & 16 ? 32767 : 65535;
    for (int channel = 0; channel < t->channels; channel++) {
        double number = numbers[channel] / 256;
        if (t->most != 0) number = fmax(texture_scaled(t, numbers[channel]) / full, -1);
        numbers[channel] = is_half ? texture_half(number) : texture_rounded(number, 24);
    }
}

// The channels of a texture at a position.
static inline void texture_fetch(texture t, const float *at, double *numbers) {
    int64_t place[3] = {0};
    for (int axis = 0; axis < t->axes; axis++) place[axis] = texture_place(t, axis, at[axis]);
    if (t->is_linear)
        texture_blended(t, place, numbers);
    else
        texture_nearest(t, place, numbers);
}
