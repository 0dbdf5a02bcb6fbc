#include "kernels.h"
#include "vec.h"

#include <math.h>

struct attention_args {
    float *y;
    const float *q, *keys, *values;
    struct attention_shape shape;
    int pos;
};

/* Turns scores into weights that sum to one. */
static void softmax(float *score, int n)
{
    float max = score[0], sum = 0;

    for (int i = 1; i < n; i++)
        if (score[i] > max)
            max = score[i];
    for (int i = 0; i < n; i++) {
        score[i] = expf(score[i] - max);
        sum += score[i];
    }
    for (int i = 0; i < n; i++)
        score[i] /= sum;
}

/* One head of one token over the first n positions. */
static void attend(float *y, const float *q, const float *keys, const float *values,
                   int n, int head_dim, int stride)
{
    const float scale = 1.0f / sqrtf((float)head_dim);
    float score[ENGINE_MAX_CTX];

    for (int i = 0; i < n; i++)
        score[i] = vec_dot(q, keys + (size_t)i * stride, head_dim) * scale;
    softmax(score, n);
    for (int d = 0; d < head_dim; d++)
        y[d] = 0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < head_dim; d++)
            y[d] += score[i] * values[(size_t)i * stride + d];
}

static void attention_block(const void *args, struct range heads, struct range tokens)
{
    const struct attention_args *a = args;
    const struct attention_shape *s = &a->shape;
    const int group = s->n_heads / s->n_kv_heads;
    const int width = s->n_heads * s->head_dim, stride = s->n_kv_heads * s->head_dim;

    for (int t = tokens.begin; t < tokens.end; t++) {
        for (int h = heads.begin; h < heads.end; h++) {
            const size_t at = (size_t)t * width + (size_t)h * s->head_dim;
            const int kv = h / group * s->head_dim;
            attend(a->y + at, a->q + at, a->keys + kv, a->values + kv, a->pos + t + 1,
                   s->head_dim, stride);
        }
    }
}

void attention(struct pool *p, float *y, const float *q, const float *keys, const float *values,
               const struct attention_shape *shape, int tokens, int pos)
{
    const struct attention_args args = {
        .y = y, .q = q, .keys = keys, .values = values, .shape = *shape, .pos = pos,
    };

    launch(p, attention_block, &args, shape->n_heads, tokens);
}
