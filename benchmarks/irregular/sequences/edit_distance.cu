#define LONGEST 32

extern "C" __global__ void edit_distance(const unsigned char *__restrict__ first, int first_rows,
                                         int first_columns, const int *__restrict__ first_lengths,
                                         int first_lengths_len,
                                         const unsigned char *__restrict__ second, int second_rows,
                                         int second_columns,
                                         const int *__restrict__ second_lengths,
                                         int second_lengths_len, int *__restrict__ out, int pairs)
{
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;
    const unsigned char *a = first + pair * first_columns;
    const unsigned char *b = second + pair * second_columns;
    int rows = first_lengths[pair], columns = second_lengths[pair];
    int row[LONGEST + 1];
    for (int j = 0; j <= columns; j++)
        row[j] = j;
    for (int i = 0; i < rows; i++) {
        int diagonal = row[0];
        int left = row[0] = i + 1;
        unsigned char letter = a[i];
        for (int j = 0; j < columns; j++) {
            int replaced = diagonal + (letter != b[j]);
            diagonal = row[j + 1];
            left = row[j + 1] = min(min(replaced, diagonal + 1), left + 1);
        }
    }
    out[pair] = row[columns];
}
