#include <stddef.h>

void particles_aos(float *restrict p, int n, int p_columns, float *restrict v, int v_rows,
                   int v_columns, float gravity, float dt)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float *restrict position = p + (ptrdiff_t)i * 3, *restrict speed = v + (ptrdiff_t)i * 3;
        speed[2] -= gravity * dt;
        for (int axis = 0; axis < 3; axis++) {
            float x = position[axis] + speed[axis] * dt;
            if (x < 0.0f) {
                x = -x;
                speed[axis] = -speed[axis];
            } else if (x > 1.0f) {
                x = 2.0f - x;
                speed[axis] = -speed[axis];
            }
            position[axis] = x;
        }
    }
}
