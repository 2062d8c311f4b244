#include <math.h>
#include <stdint.h>

struct dim3 {
    int64_t x;
    int64_t y;
    int64_t z;
};

struct nbody_args {
    int32_t gridDim[3];
    int32_t blockDim[3];
    int64_t shared_bytes;
    const float *p0_data0;
    int64_t p0_shape1;
    const float *p1_data0;
    int64_t p1_shape0;
    float *p2_data0;
    int64_t p2_shape1;
};

// min(a, b) as in Python: a unless b < a.
static inline int64_t min_i64(int64_t a, int64_t b) {
    return b < a ? b : a;
}

void nbody(const void *arguments, int64_t first_block, int64_t last_block) {
    const struct nbody_args *const args = arguments;
    const float *position = args->p0_data0;
    int64_t position_shape1 = args->p0_shape1;
    const float *mass = args->p1_data0;
    int64_t mass_len = args->p1_shape0;
    float *acceleration = args->p2_data0;
    int64_t acceleration_shape1 = args->p2_shape1;
    const struct dim3 gridDim = {args->gridDim[0], args->gridDim[1], args->gridDim[2]};
    for (int64_t block = first_block; block < last_block; ++block) {
        const struct dim3 blockIdx = {block % gridDim.x, (block / gridDim.x) % gridDim.y, (block / gridDim.x) / gridDim.y};
        float tile[32][4];
        float ax[32];
        float ay[32];
        float az[32];
        float px[32];
        float py[32];
        float pz[32];
        int64_t n = mass_len;
        #pragma omp simd
        for (int64_t tx = 0; tx < 32; ++tx) {
            int64_t i = blockIdx.x * 32 + tx;
            int64_t mine = min_i64(i, n - 1);
            int64_t at = mine * position_shape1;
            px[tx] = position[at];
            py[tx] = position[at + 1];
            pz[tx] = position[at + 2];
            ax[tx] = 0.0f;
            ay[tx] = 0.0f;
            az[tx] = 0.0f;
        }
        for (int64_t start = 0; start < n; start += 32) {
            for (int64_t tid = 0; tid < 32; ++tid) {
                int64_t other = min_i64(start + tid, n - 1);
                for (int64_t axis = 0; axis < 3; ++axis) {
                    tile[tid][axis] = position[other * position_shape1 + axis];
                }
                tile[tid][3] = start + tid < n ? mass[other] : 0.0f;
            }
            #pragma omp simd
            for (int64_t t = 0; t < 32; ++t) {
                for (int64_t k = 0; k < 32; ++k) {
                    float dx = tile[k][0] - px[t];
                    float dy = tile[k][1] - py[t];
                    float dz = tile[k][2] - pz[t];
                    float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.001f);
                    float pull = tile[k][3] * inverse * inverse * inverse;
                    ax[t] += pull * dx;
                    ay[t] += pull * dy;
                    az[t] += pull * dz;
                }
            }
        }
        #pragma omp simd
        for (int64_t tx = 0; tx < min_i64(32LL, n - blockIdx.x * 32); ++tx) {
            int64_t i = blockIdx.x * 32 + tx;
            int64_t at = i * acceleration_shape1;
            acceleration[at] = ax[tx];
            acceleration[at + 1] = ay[tx];
            acceleration[at + 2] = az[tx];
        }
    }
}
