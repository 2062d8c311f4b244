void scatter(const float *restrict source, int rows, int columns, const int *restrict targets,
             int targets_len, float *restrict out, int out_rows, int out_columns)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        const float *from = source + i * columns;
        float *to = out + targets[i] * columns;
        for (int j = 0; j < columns; j++)
            to[j] = from[j];
    }
}
