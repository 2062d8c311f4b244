__constant__ const int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ const int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ const int OPPOSITE[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ const float WEIGHTS[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                       1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

__device__ inline int wrapped(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

extern "C" __global__ void lattice_boltzmann(const float *__restrict__ f, int directions,
                                             int f_rows, int f_columns,
                                             const unsigned char *__restrict__ solid, int ny,
                                             int nx, float *__restrict__ out, int out_directions,
                                             int out_rows, int out_columns, float omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int cells = ny * nx, cell = y * nx + x;
    float streamed[9], density = 0.0f, ux = 0.0f, uy = 0.0f;
#pragma unroll
    for (int q = 0; q < 9; q++) {
        int row = wrapped(y - CY[q], ny), column = wrapped(x - CX[q], nx);
        float value = streamed[q] = f[q * cells + row * nx + column];
        density += value;
        ux += CX[q] * value;
        uy += CY[q] * value;
    }
    if (solid[cell]) {
#pragma unroll
        for (int q = 0; q < 9; q++)
            out[q * cells + cell] = streamed[OPPOSITE[q]];
        return;
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < 9; q++) {
        float along = 3.0f * (CX[q] * ux + CY[q] * uy);
        float equilibrium = WEIGHTS[q] * density * (1.0f + along + 0.5f * along * along - square);
        out[q * cells + cell] = streamed[q] + omega * (equilibrium - streamed[q]);
    }
}
