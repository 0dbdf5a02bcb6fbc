#include "kernels.h"

#include <math.h>

/* Rotates the pair (a, b) by the angle whose cosine and sine are given. */
static void rotate(float *a, float *b, float c, float s)
{
    const float a0 = *a, b0 = *b;

    *a = a0 * c - b0 * s;
    *b = a0 * s + b0 * c;
}

void rope(float *x, int tokens, int heads, int head_dim, int pos, float theta)
{
    const int half = head_dim / 2;

    for (int t = 0; t < tokens; t++) {
        float *token = x + (size_t)t * heads * head_dim;
        for (int i = 0; i < half; i++) {
            const float freq = powf(theta, -2.0f * (float)i / (float)head_dim);
            const float angle = (float)(pos + t) * freq;
            const float c = cosf(angle), s = sinf(angle);
            for (int h = 0; h < heads; h++) {
                float *head = token + h * head_dim;
                rotate(&head[i], &head[i + half], c, s);
            }
        }
    }
}
