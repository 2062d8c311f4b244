#include <stdint.h>

void collatz(int *steps, int starts)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (int i = 0; i < starts; i++) {
        uint64_t n = (uint64_t)i + 1;
        int count = 0;
        while (n != 1) {
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            count++;
        }
        steps[i] = count;
    }
}
