extern "C" __global__ void nbody(const float *position, int position_shape1, const float *mass,
                                 int mass_len, float *acceleration, int acceleration_shape1) {
    __shared__ float tile[32][4];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int n = mass_len;
    int mine = min(i, n - 1);
    int at = mine * position_shape1;
    float px = position[at];
    float py = position[at + 1];
    float pz = position[at + 2];
    float ax = 0.0f;
    float ay = 0.0f;
    float az = 0.0f;
    for (int start = 0; start < n; start += 32) {
        int other = min(start + tid, n - 1);
        for (int axis = 0; axis < 3; ++axis) {
            tile[tid][axis] = position[other * position_shape1 + axis];
        }
        tile[tid][3] = start + tid < n ? mass[other] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float dx = tile[k][0] - px;
            float dy = tile[k][1] - py;
            float dz = tile[k][2] - pz;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
            float pull = tile[k][3] * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        int at_1 = i * acceleration_shape1;
        acceleration[at_1] = ax;
        acceleration[at_1 + 1] = ay;
        acceleration[at_1 + 2] = az;
    }
}
