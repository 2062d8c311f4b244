// $comment, atomic; returns the old value.
$q $T atomic_${name}_$t($T *place, $T value) {
    $T old, next;
    __atomic_load(place, &old, __ATOMIC_ACQUIRE);
    do {
        next = $new;
    } while (!__atomic_compare_exchange(place, &old, &next, 1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return old;
}

// $comment, atomic; returns the old value.
$q $T atomic_${name}_$t($T *place, $parameters) {
    $T old;
    __atomic_load(place, &old, __ATOMIC_ACQUIRE);
    while (($condition) &&
           !__atomic_compare_exchange(place, &old, &value, 1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    }
    return old;
}

// *place = value, atomic; returns the old value.
$q $T atomic_exch_$t($T *place, $T value) {
    $T old;
    __atomic_exchange(place, &value, &old, __ATOMIC_ACQUIRE);
    return old;
}

// if (*place == expected) *place = value, atomic; returns the old value.
$q $T atomic_cas_$t($T *place, $T expected, $T value) {
    __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    return expected;
}

// $comment, not atomic; returns the old value.
$q $T plain_${name}_$t($T *place, $parameters) {
    const $T old = *place;
    ${if}*place = $new;
    return old;
}

// $comment, atomic; returns the old value.
$q $T atomic_${name}_$t($T *place, $parameters) {
$word
    $word_type seen = *(volatile $word_type *)word, was;
    do {
        was = seen;
$steps        seen = atomicCAS(word, was, $to);
    } while (seen != was);
    return $from;
}
