// The sections, of which each function uses some: helper functions, and products d = a @ b + c.

// ==== helpers
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

// ==== half
const unsigned a0 = word_of_elements(a), a1 = word_of_elements(a + 2);
const unsigned a2 = word_of_elements(a + 4), a3 = word_of_elements(a + 6);
for (int block = 0; block < 2; ++block, b += 4, c += 4, d += 4) {
    const unsigned b0 = word_of_elements(b), b1 = word_of_elements(b + 2);
    float d0, d1, d2, d3;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.$type.$type.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
                   "f"(c[2]), "f"(c[3]));
    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3;
}

// ==== half before sm_80
const unsigned a0 = word_of_elements(a), a1 = word_of_elements(a + 2);
const unsigned a2 = word_of_elements(a + 4), a3 = word_of_elements(a + 6);
for (int block = 0; block < 2; ++block, b += 4, c += 4, d += 4) {
    const unsigned b0 = word_of_elements(b), b1 = word_of_elements(b + 2);
    float d0, d1, d2, d3;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(b0), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a2), "r"(a3), "r"(b1));
    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3;
}

// ==== byte
const unsigned a0 = word_of_elements(a), a1 = word_of_elements(a + 4);
for (int block = 0; block < 2; ++block, b += 4, c += 4, d += 4) {
    int d0, d1, d2, d3;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.$type.$type.s32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)
                 : "r"(a0), "r"(a1), "r"(word_of_elements(b)), "r"(c[0]), "r"(c[1]), "r"(c[2]),
                   "r"(c[3]));
    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3;
}

// ==== by shuffles
mma_by_shuffles(d, a, b, c);
