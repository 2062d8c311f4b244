void ragged_rows(const float *restrict values, int values_len, const int *restrict offsets,
                 int offsets_len, float *restrict maxima, int rows)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (int i = 0; i < rows; i++) {
        int start = offsets[i], stop = offsets[i + 1];
        float largest = start < stop ? values[start] : 0.0f;
        for (int k = start + 1; k < stop; k++)
            largest = values[k] > largest ? values[k] : largest;
        maxima[i] = largest;
    }
}
