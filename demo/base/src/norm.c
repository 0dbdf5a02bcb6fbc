#include "kernels.h"

#include <math.h>

void rmsnorm(float *y, const float *x, const struct tensor *w, int tokens, float eps)
{
    const int n = w->cols;

    for (int t = 0; t < tokens; t++, x += n, y += n) {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += x[i] * x[i];
        const float scale = 1.0f / sqrtf(sum / (float)n + eps);
        for (int i = 0; i < n; i++)
            y[i] = x[i] * scale * w->data[i];
    }
}
