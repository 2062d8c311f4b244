// a % b: has the sign of b; 0 where b is 0.
__device__ __forceinline__ long long mod_i64(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    const long long remainder = (long long)(a % b);
    return (remainder != 0 && (remainder < 0) != (b < 0)) ? (long long)(remainder + b) : remainder;
}

extern "C" __global__ void primes(bool *is_prime, int is_prime_len, long long *count) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= is_prime_len) return;
    bool prime = n >= 2;
    long long divisor = 2;
    while ((long long)((unsigned long long)divisor * (unsigned long long)divisor) <= (long long)n) {
        if (mod_i64((long long)n, divisor) == 0) {
            prime = false;
            break;
        }
        divisor += 1;
    }
    is_prime[n] = prime;
    if (prime) {
        (long long)atomicAdd((unsigned long long *)&count[0], (unsigned long long)1LL);
    }
}
