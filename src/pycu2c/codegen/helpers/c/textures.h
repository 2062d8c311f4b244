// Reads and writes of textures and surfaces. $texel is a value of the type $T from `numbers`.

// Fetches from a texture.
$q $T tex1D_$t(texture t, float x) {
    const float at[3] = {x};
    double numbers[4];
    texture_fetch(t, at, numbers);
    return $texel;
}

// Fetches from a texture.
$q $T tex2D_$t(texture t, float x, float y) {
    const float at[3] = {x, y};
    double numbers[4];
    texture_fetch(t, at, numbers);
    return $texel;
}

// Fetches from a texture.
$q $T tex3D_$t(texture t, float x, float y, float z) {
    const float at[3] = {x, y, z};
    double numbers[4];
    texture_fetch(t, at, numbers);
    return $texel;
}

// Fetches from a texture.
$q $T tex1Dfetch_$t(texture t, int64_t i) {
    const float at[3] = {(float)i + 0.5f};
    double numbers[4];
    texture_fetch(t, at, numbers);
    return $texel;
}

// An element of a surface; 0 outside.
$q $T surf1Dread_$t(surface s, int64_t x) {
    const int64_t element = surface_element(s, x, 0, 0);
    const $T outside = {0};
    return element < 0 ? outside : (($T *)s->elements)[element];
}

// Sets an element of a surface; nothing outside.
$q void surf1Dwrite_$t($T value, surface s, int64_t x) {
    const int64_t element = surface_element(s, x, 0, 0);
    if (element >= 0) (($T *)s->elements)[element] = value;
}

// An element of a surface; 0 outside.
$q $T surf2Dread_$t(surface s, int64_t x, int64_t y) {
    const int64_t element = surface_element(s, x, y, 0);
    const $T outside = {0};
    return element < 0 ? outside : (($T *)s->elements)[element];
}

// Sets an element of a surface; nothing outside.
$q void surf2Dwrite_$t($T value, surface s, int64_t x, int64_t y) {
    const int64_t element = surface_element(s, x, y, 0);
    if (element >= 0) (($T *)s->elements)[element] = value;
}

// An element of a surface; 0 outside.
$q $T surf3Dread_$t(surface s, int64_t x, int64_t y, int64_t z) {
    const int64_t element = surface_element(s, x, y, z);
    const $T outside = {0};
    return element < 0 ? outside : (($T *)s->elements)[element];
}

// Sets an element of a surface; nothing outside.
$q void surf3Dwrite_$t($T value, surface s, int64_t x, int64_t y, int64_t z) {
    const int64_t element = surface_element(s, x, y, z);
    if (element >= 0) (($T *)s->elements)[element] = value;
}
