extern "C" __global__ void median_3x3(const unsigned char *__restrict__ image, int height,
                                      int width, unsigned char *__restrict__ out, int out_height,
                                      int out_width)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width)
        return;
    if (i == 0 || j == 0 || i == height - 1 || j == width - 1) {
        out[i * width + j] = image[i * width + j];
        return;
    }
    unsigned char window[9];
    for (int k = 0; k < 9; k++)
        window[k] = image[(i + k / 3 - 1) * width + j + k % 3 - 1];
    for (int k = 1; k < 9; k++) {
        unsigned char value = window[k];
        int m = k - 1;
        for (; m >= 0 && window[m] > value; m--)
            window[m + 1] = window[m];
        window[m + 1] = value;
    }
    out[i * width + j] = window[4];
}
