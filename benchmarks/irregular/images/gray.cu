extern "C" __global__ void gray(const unsigned char *__restrict__ rgb, int rows, int columns, int colors,
                                unsigned char *__restrict__ out, int height, int width)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width)
        return;
    int at = i * width + j;
    const unsigned char *pixel = rgb + at * 3;
    out[at] = 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
}
