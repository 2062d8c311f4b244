#define FARTHEST 10.0f

extern "C" __global__ void ray_box(const float *__restrict__ origins, int rays,
                                   int origins_columns,
                                   const float *__restrict__ inverse_directions, int inverse_rows,
                                   int inverse_columns, const float *__restrict__ low, int boxes,
                                   int low_columns, const float *__restrict__ high, int high_rows,
                                   int high_columns, float *__restrict__ distances,
                                   int distances_len, int *__restrict__ hits, int hits_len)
{
    int ray = blockIdx.x * blockDim.x + threadIdx.x;
    if (ray >= rays)
        return;
    float origin[3], inverse[3];
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        origin[axis] = origins[ray * 3 + axis];
        inverse[axis] = inverse_directions[ray * 3 + axis];
    }
    float nearest = FARTHEST;
    int hit = -1;
    for (int box = 0; box < boxes; box++) {
        float enter = 0.0f, leave = nearest;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            float t0 = (low[box * 3 + axis] - origin[axis]) * inverse[axis];
            float t1 = (high[box * 3 + axis] - origin[axis]) * inverse[axis];
            enter = fmaxf(enter, fminf(t0, t1));
            leave = fminf(leave, fmaxf(t0, t1));
        }
        if (enter < leave) {
            nearest = enter;
            hit = box;
        }
    }
    distances[ray] = nearest;
    hits[ray] = hit;
}
