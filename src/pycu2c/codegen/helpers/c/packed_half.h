// $T at any address.
struct __attribute__((packed)) $P {
    unsigned short bits;
};

__device__ __forceinline__ $T aligned(const $P &x) {
    return $from(x.bits);
}

__device__ __forceinline__ $P packed($T x) {
    unsigned bits;
    asm("cvt.u32.u16 %0, %1;" : "=r"(bits) : "h"($to(x)));
    const $P value = {(unsigned short)bits};
    return value;
}
