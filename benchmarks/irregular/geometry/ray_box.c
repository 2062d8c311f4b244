#include <stddef.h>

#define FARTHEST 10.0f

static inline float min(float a, float b) { return b < a ? b : a; }
static inline float max(float a, float b) { return b > a ? b : a; }

void ray_box(const float *restrict origins, int rays, int origins_columns,
             const float *restrict inverse_directions, int inverse_rows, int inverse_columns,
             const float *restrict low, int boxes, int low_columns, const float *restrict high,
             int high_rows, int high_columns, float *restrict distances, int distances_len,
             int *restrict hits, int hits_len)
{
#pragma omp parallel for
    for (int ray = 0; ray < rays; ray++) {
        const float *restrict origin = origins + (ptrdiff_t)ray * 3;
        const float *restrict inverse = inverse_directions + (ptrdiff_t)ray * 3;
        float nearest = FARTHEST;
        int hit = -1;
        for (int box = 0; box < boxes; box++) {
            float enter = 0.0f, leave = nearest;
            for (int axis = 0; axis < 3; axis++) {
                float t0 = (low[box * 3 + axis] - origin[axis]) * inverse[axis];
                float t1 = (high[box * 3 + axis] - origin[axis]) * inverse[axis];
                enter = max(enter, min(t0, t1));
                leave = min(leave, max(t0, t1));
            }
            if (enter < leave) {
                nearest = enter;
                hit = box;
            }
        }
        distances[ray] = nearest;
        hits[ray] = hit;
    }
}
