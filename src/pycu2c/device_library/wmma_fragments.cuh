#if defined(__CUDACC__) && !defined(PYCU2C_FRAGMENTS)
#define PYCU2C_FRAGMENTS
template <typename T>
__device__ __forceinline__ unsigned word_of_elements(const T *elements) {
    unsigned word;
    memcpy(&word, elements, sizeof word);
    return word;
}
__device__ __forceinline__ int holder_of_element(int size, int k) {
    return size == 1 ? k / 4 : k % 8 / 2;
}
__device__ __forceinline__ int left_of_element(int size, int k, int half) {
    return size == 1 ? k % 4 + 4 * half : k % 2 + 2 * half + k / 8 * 4;
}
__device__ __forceinline__ int right_of_element(int size, int k, int block) {
    return size == 1 ? k % 4 + 4 * block : k % 2 + k / 8 * 2 + 4 * block;
}
// for GPUs without the instruction
template <typename S, typename T>
__device__ void mma_by_shuffles(S *d, const T *a, const T *b, const S *c) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    const int group = lane / 4, pair = lane % 4, size = sizeof(T);
    S sum[8];
    for (int n = 0; n < 8; ++n) sum[n] = c[n];
    for (int k = 0; k < 16; ++k) {
        const int at = holder_of_element(size, k);
        for (int half = 0; half < 2; ++half) {
            const S own = (S)a[left_of_element(size, k, half)];
            const S left = __shfl_sync(0xffffffff, own, 4 * group + at);
            for (int n = 0; n < 4; ++n) {
                const S given = (S)b[right_of_element(size, k, n / 2)];
                const S right = __shfl_sync(0xffffffff, given, 4 * (2 * pair + n % 2) + at);
                sum[n % 2 + 2 * half + n / 2 * 4] += left * right;
            }
        }
    }
    for (int n = 0; n < 8; ++n) d[n] = sum[n];
}
#endif
