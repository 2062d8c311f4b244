extern "C" __global__ void value_logic(const float *data, int data_len, int data_stride0,
                                       const int *where, int where_len, int where_stride0,
                                       float *out, int out_stride0) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= where_len) return;
    int place = where[i * where_stride0];
    bool known = 0 <= place && place < data_len && data[place * data_stride0] != 0.0f;
    float value = known ? data[place * data_stride0] : -1.0f;
    float value_1 = known ? data[place * data_stride0] : (float)known;
    float either = value_1 != 0.0f ? value_1 : 0.5f;
    int sign = value > 0.0f ? 1 : value < 0.0f ? -1 : 0;
    out[i * out_stride0] = value + (either != 0.0f ? either : 7.0f) + sign + (float)!known;
}
