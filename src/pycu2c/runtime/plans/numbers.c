/* Numbers: whether one is as its guard says, and what the kernel is passed. */

#define EXACT_LIMIT ((int64_t)1 << 53) /* whole numbers below it are float64s */

/* The value of an integer; false if 64 bits with a sign do not hold it. */
static bool read_whole(const Guard *g, Object *given, int64_t *n) {
    int overflow = 0;
    const void *bytes = ((const Scalar *)given)->bytes;
    switch (g->source) {
    case -1: *n = *(const int8_t *)bytes; return true;
    case -2: *n = *(const int16_t *)bytes; return true;
    case -4: *n = *(const int32_t *)bytes; return true;
    case -8: *n = *(const int64_t *)bytes; return true;
    case 1: *n = *(const uint8_t *)bytes; return true;
    case 2: *n = *(const uint16_t *)bytes; return true;
    case 4: *n = *(const uint32_t *)bytes; return true;
    case 8: *n = *(const int64_t *)bytes; return *n >= 0;
    default: *n = PyLong_AsLongLongAndOverflow(given, &overflow); return !overflow;
    }
}

static bool is_whole(const Guard *g, Object *given, Leaf *leaf) {
    int64_t n;
    if (!read_whole(g, given, &n) || n < g->least || n > g->most) return false;
    leaf->whole = n;
    leaf->bytes = &leaf->made;
    switch (g->kind) {
    case FLOAT_OF_WHOLE: leaf->made.f32 = (float)n; break;
    case DOUBLE_OF_WHOLE: leaf->made.f64 = (double)n; break;
    default:
        switch (g->count) {
        case 1: leaf->made.i8 = (int8_t)n; break;
        case 2: leaf->made.i16 = (int16_t)n; break;
        case 4: leaf->made.i32 = (int32_t)n; break;
        default: leaf->made.i64 = n;
        }
    }
    return true;
}

static bool is_single(const Guard *g, Object *given, Leaf *leaf) {
    double wide;
    memcpy(&wide, ((const Scalar *)given)->bytes, sizeof wide);
    float single = leaf->made.f32 = (float)wide;
    leaf->bytes = &leaf->made;
    if (!isfinite(wide)) return true;
    return g->source ? (double)single == wide : isfinite(single);
}

static bool is_widened(Object *given, Leaf *leaf) {
    float single;
    memcpy(&single, ((const Scalar *)given)->bytes, sizeof single);
    leaf->made.f64 = single;
    leaf->bytes = &leaf->made;
    return true;
}
