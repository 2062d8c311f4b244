extern "C" __global__ void primes(bool *is_prime, int is_prime_len, long long *count) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= is_prime_len) return;
    bool prime = n >= 2;
    int divisor = 2;
    while (divisor * divisor <= n) {
        if (n % divisor == 0) {
            prime = false;
            break;
        }
        divisor += 1;
    }
    is_prime[n] = prime;
    if (prime) {
        atomicAdd((unsigned long long *)&count[0], 1ULL);
    }
}
