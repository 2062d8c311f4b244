#define MATCH 3
#define MISMATCH -2
#define GAP 2

extern "C" __global__ void smith_waterman(const unsigned char *__restrict__ first, int rows,
                                          const unsigned char *__restrict__ second, int columns,
                                          const int *__restrict__ before, int before_len,
                                          const int *__restrict__ last, int last_len,
                                          int *__restrict__ scores, int scores_len, int diagonal)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int j = diagonal - i;
    if (i > rows || j < 1 || j > columns)
        return;
    int replaced = before[i - 1] + (first[i - 1] == second[j - 1] ? MATCH : MISMATCH);
    int gap = max(last[i - 1], last[i]) - GAP;
    scores[i] = max(0, max(replaced, gap));
}
