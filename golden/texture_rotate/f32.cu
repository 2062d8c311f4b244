extern "C" __global__ void rotate(cudaTextureObject_t image, float cos_, float sin_, float *out,
                                  int out_shape0, int out_shape1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int height = out_shape0;
    int width = out_shape1;
    if (x < width && y < height) {
        float u = (float)x + 0.5f - (float)width / 2.0f;
        float v = (float)y + 0.5f - (float)height / 2.0f;
        out[y * out_shape1 + x] = tex2D<float>(image, cos_ * u - sin_ * v + (float)width / 2.0f, sin_ * u + cos_ * v + (float)height / 2.0f);
    }
}
