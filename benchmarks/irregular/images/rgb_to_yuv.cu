extern "C" __global__ void rgb_to_yuv(const unsigned char *__restrict__ rgb, int height, int width,
                                      int colors, unsigned char *__restrict__ yuv, int yuv_height,
                                      int yuv_width, int channels)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width)
        return;
    const unsigned char *from = rgb + (i * width + j) * 3;
    unsigned char *to = yuv + (i * width + j) * 3;
    float r = from[0], g = from[1], b = from[2];
    float y = 0.299f * r + 0.587f * g + 0.114f * b;
    float u = 0.492f * (b - y) + 128.0f;
    float v = 0.877f * (r - y) + 128.0f;
    to[0] = y;
    to[1] = fminf(fmaxf(u, 0.0f), 255.0f);
    to[2] = fminf(fmaxf(v, 0.0f), 255.0f);
}
