#include <stdint.h>

static inline float clamp(float value)
{
    return value < 0.0f ? 0.0f : value > 255.0f ? 255.0f : value;
}

void rgb_to_yuv(const uint8_t *restrict rgb, int height, int width, int colors,
                uint8_t *restrict yuv, int yuv_height, int yuv_width, int channels)
{
#pragma omp parallel for
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            const uint8_t *from = rgb + (i * width + j) * 3;
            uint8_t *to = yuv + (i * width + j) * 3;
            float r = from[0], g = from[1], b = from[2];
            float y = 0.299f * r + 0.587f * g + 0.114f * b;
            float u = 0.492f * (b - y) + 128.0f;
            float v = 0.877f * (r - y) + 128.0f;
            to[0] = y;
            to[1] = clamp(u);
            to[2] = clamp(v);
        }
}
