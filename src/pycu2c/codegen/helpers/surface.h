// A surface: its elements, adjacent along x.
typedef const struct surface_data {
    void *elements;
    int64_t extents[3];
} *surface;

// The number of an element; -1 outside.
static inline int64_t surface_element(surface s, int64_t x, int64_t y, int64_t z) {
    const int64_t *n = s->extents;
    const int inside = x >= 0 && x < n[0] && y >= 0 && y < n[1] && z >= 0 && z < n[2];
    return inside ? (z * n[1] + y) * n[0] + x : -1;
}
