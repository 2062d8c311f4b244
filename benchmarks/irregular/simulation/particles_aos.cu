extern "C" __global__ void particles_aos(float *__restrict__ p, int n, int p_columns,
                                         float *__restrict__ v, int v_rows, int v_columns,
                                         float gravity, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float *position = p + i * 3, *speed = v + i * 3;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        float s = speed[axis];
        if (axis == 2)
            s -= gravity * dt;
        float x = position[axis] + s * dt;
        if (x < 0.0f) {
            x = -x;
            s = -s;
        } else if (x > 1.0f) {
            x = 2.0f - x;
            s = -s;
        }
        position[axis] = x;
        speed[axis] = s;
    }
}
