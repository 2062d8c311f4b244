// Accesses to vectors in CUDA C. $E: the type of the components.

// The vector at a place, in one access if the place is aligned.
$q $T load_vector_$t(const $E *place) {
    if ($address % $alignment) return $make($loads);
    return *(const $T *)place;
}

// *place = value, in one access if the place is aligned.
$q void store_vector_$t($E *place, $T value) {
    if ($address % $alignment) {
$stores
    } else {
        *($T *)place = value;
    }
}

// Adds to each component atomically; the old vector.
$q $T atomic_add_vector_$t($T *place, $T value) {
#if __CUDA_ARCH__ >= $arch
    return atomicAdd(place, value);
#else
    $T old;
$additions
    return old;
#endif
}

// Adds to each component of neighbouring numbers atomically; the old vector.
$q $T atomic_add_components_$t($E *place, $T value) {
#if __CUDA_ARCH__ >= $arch
    if ($address % $alignment == 0) return atomicAdd(($T *)place, value);
#endif
    $T old;
$element_additions
    return old;
}
