#include <stdint.h>

void viterbi(const float *restrict scores, int states, const float *restrict transitions,
             int transitions_rows, int transitions_columns, const float *restrict emissions,
             int symbols, int emissions_columns, int symbol, float *restrict out, int out_len,
             int *restrict origins, int origins_len)
{
#pragma omp parallel
    {
#pragma omp for simd schedule(static) nowait
        for (int state = 0; state < states; state++) {
            out[state] = scores[0] + transitions[state];
            origins[state] = 0;
        }
        for (int k = 1; k < states; k++) {
            const float *row = transitions + (int64_t)k * states;
#pragma omp for simd schedule(static) nowait
            for (int state = 0; state < states; state++) {
                float score = scores[k] + row[state], best = out[state];
                origins[state] = score > best ? k : origins[state];
                out[state] = score > best ? score : best;
            }
        }
#pragma omp for simd schedule(static) nowait
        for (int state = 0; state < states; state++)
            out[state] += emissions[(int64_t)symbol * states + state];
    }
}
