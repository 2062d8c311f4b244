__device__ int escape_time(float zr, float zi, float cr, float ci) {
    for (int count = 0; count < 32; ++count) {
        float square_r = zr * zr;
        float square_i = zi * zi;
        if (square_r + square_i > 4.0f) return count;
        zi = 2.0f * zr * zi + ci;
        zr = square_r - square_i + cr;
    }
    return 32;
}

extern "C" __global__ void julia(unsigned char *out, int out_shape0, int out_shape1, float cr,
                                 float ci) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = out_shape0;
    int width = out_shape1;
    if (x < width && y < height) {
        float zr = (float)(x - width / 2.0) * 3.0f / width;
        float zi = (float)(y - height / 2.0) * 3.0f / height;
        out[y * width + x] = escape_time(zr, zi, cr, ci);
    }
}
