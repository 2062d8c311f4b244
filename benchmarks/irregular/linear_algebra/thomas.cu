extern "C" __global__ void thomas(const float *__restrict__ lower, int lower_rows,
                                  int lower_columns, const float *__restrict__ middle,
                                  int middle_rows, int middle_columns, float *__restrict__ upper,
                                  int upper_rows, int upper_columns, float *__restrict__ right,
                                  int n, int systems)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems)
        return;
    float u = upper[s] / middle[s], r = right[s] / middle[s];
    upper[s] = u;
    right[s] = r;
    int at = s + systems;
    for (int i = 1; i < n; i++, at += systems) {
        float a = lower[at];
        float scale = 1.0f / (middle[at] - a * u);
        upper[at] = u = upper[at] * scale;
        right[at] = r = (right[at] - a * r) * scale;
    }
    at -= 2 * systems;
    for (int i = n - 2; i >= 0; i--, at -= systems)
        right[at] = r = right[at] - upper[at] * r;
}
