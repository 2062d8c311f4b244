extern "C" __global__ void viterbi(const float *__restrict__ scores, int states,
                                   const float *__restrict__ transitions, int transitions_rows,
                                   int transitions_columns, const float *__restrict__ emissions,
                                   int symbols, int emissions_columns, int symbol,
                                   float *__restrict__ out, int out_len,
                                   int *__restrict__ origins, int origins_len)
{
    int state = blockIdx.x * blockDim.x + threadIdx.x;
    if (state >= states)
        return;
    float best = scores[0] + transitions[state];
    int origin = 0;
    for (int k = 1; k < states; k++) {
        float score = scores[k] + transitions[k * states + state];
        if (score > best) {
            best = score;
            origin = k;
        }
    }
    out[state] = best + emissions[symbol * states + state];
    origins[state] = origin;
}
