#include "engine.h"
#include "f16.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model file being read; after the first failure every read is a no-op. */
struct reader {
    FILE *file;
    const char *error;
};

static void read_bytes(struct reader *r, void *to, size_t size)
{
    if (!r->error && fread(to, 1, size, r->file) != size)
        r->error = "ends too early";
    if (r->error)
        memset(to, 0, size);
}

static uint32_t read_u32(struct reader *r)
{
    uint8_t b[4];

    read_bytes(r, b, sizeof b);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float read_f32(struct reader *r)
{
    const uint32_t bits = read_u32(r);
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static int read_size(struct reader *r, uint32_t max)
{
    const uint32_t v = read_u32(r);

    if (!r->error && (v == 0 || v > max))
        r->error = "has a size out of range";
    return r->error ? 1 : (int)v;
}

static void *allocate(struct reader *r, size_t count, size_t size)
{
    void *p = calloc(count, size);

    if (!p)
        r->error = "does not fit into memory";
    return p;
}

static void read_vector(struct reader *r, struct tensor *t, int n)
{
    *t = (struct tensor){ .rows = 1, .cols = n, .data = allocate(r, (size_t)n, sizeof(float)) };
    for (int i = 0; i < n && !r->error; i++)
        t->data[i] = read_f32(r);
}

static void read_matrix(struct reader *r, struct tensor *t, int rows, int cols)
{
    const size_t n = (size_t)rows * cols;
    uint8_t *raw = allocate(r, n, 2);

    *t = (struct tensor){ .rows = rows, .cols = cols, .data = allocate(r, n, sizeof(float)) };
    if (!r->error)
        read_bytes(r, raw, n * 2);
    for (size_t i = 0; i < n && !r->error; i++)
        t->data[i] = f16_to_f32((uint16_t)(raw[2 * i] | raw[2 * i + 1] << 8));
    free(raw);
}

static void read_vocab(struct reader *r, struct vocab *v)
{
    v->length = allocate(r, (size_t)v->size, 1);
    v->bytes = allocate(r, (size_t)v->size, sizeof *v->bytes);
    for (int id = 0; id < v->size && !r->error; id++) {
        read_bytes(r, &v->length[id], 1);
        v->bytes[id] = allocate(r, (size_t)v->length[id] + 1, 1);
        if (!r->error)
            read_bytes(r, v->bytes[id], v->length[id]);
    }
}

static void read_header(struct reader *r, struct model *m)
{
    char magic[8];

    read_bytes(r, magic, sizeof magic);
    if (!r->error && memcmp(magic, "bpmodel1", sizeof magic) != 0)
        r->error = "is no model file";
    m->vocab.size = read_size(r, 1 << 16);
    m->d_model = read_size(r, 1 << 14);
    m->n_layers = read_size(r, 1 << 10);
    m->n_heads = read_size(r, 1 << 10);
    m->n_kv_heads = read_size(r, 1 << 10);
    m->head_dim = read_size(r, 1 << 10);
    m->n_ctx = read_size(r, ENGINE_MAX_CTX);
    if (!r->error && m->n_heads % m->n_kv_heads != 0)
        r->error = "has heads that do not divide into groups";
}

static void read_layer(struct reader *r, const struct model *m, struct layer *l)
{
    const int d = m->d_model;
    const int q = m->n_heads * m->head_dim, kv = m->n_kv_heads * m->head_dim;

    read_vector(r, &l->attn_norm, d);
    read_matrix(r, &l->wq, q, d);
    read_matrix(r, &l->wk, kv, d);
    read_matrix(r, &l->wv, kv, d);
    read_matrix(r, &l->wo, d, q);
    read_vector(r, &l->ffn_norm, d);
    read_matrix(r, &l->w_gate, l->ffn, d);
    read_matrix(r, &l->w_up, l->ffn, d);
    read_matrix(r, &l->w_down, d, l->ffn);
}

static void read_model(struct reader *r, struct model *m)
{
    read_header(r, m);
    m->layers = allocate(r, (size_t)m->n_layers, sizeof *m->layers);
    for (int i = 0; i < m->n_layers && !r->error; i++) {
        m->layers[i].ffn = read_size(r, 1 << 16);
        if (m->layers[i].ffn > m->ffn_max)
            m->ffn_max = m->layers[i].ffn;
    }
    m->rope_theta = read_f32(r);
    m->rms_eps = read_f32(r);
    read_vocab(r, &m->vocab);
    read_matrix(r, &m->tok_emb, m->vocab.size, m->d_model);
    for (int i = 0; i < m->n_layers && !r->error; i++)
        read_layer(r, m, &m->layers[i]);
    read_vector(r, &m->out_norm, m->d_model);
}

struct model *model_load(const char *path)
{
    struct reader r = { .file = fopen(path, "rb") };
    struct model *m = calloc(1, sizeof *m);

    if (!r.file)
        r.error = "cannot be opened";
    else if (!m)
        r.error = "does not fit into memory";
    else
        read_model(&r, m);
    if (r.file)
        fclose(r.file);
    if (!r.error)
        return m;
    fprintf(stderr, "model: %s %s\n", path, r.error);
    model_free(m);
    return NULL;
}

static void layer_free(struct layer *l)
{
    struct tensor *all[] = { &l->attn_norm, &l->wq, &l->wk, &l->wv, &l->wo,
                             &l->ffn_norm, &l->w_gate, &l->w_up, &l->w_down };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->data);
}

void model_free(struct model *m)
{
    if (!m)
        return;
    for (int i = 0; m->layers && i < m->n_layers; i++)
        layer_free(&m->layers[i]);
    for (int id = 0; m->vocab.bytes && id < m->vocab.size; id++)
        free(m->vocab.bytes[id]);
    free(m->vocab.bytes);
    free(m->vocab.length);
    free(m->layers);
    free(m->tok_emb.data);
    free(m->out_norm.data);
    free(m);
}

static float *buffer(size_t tokens, size_t width)
{
    return calloc(tokens * width, sizeof(float));
}

struct context *context_new(const struct model *m, int n_threads)
{
    struct context *c = calloc(1, sizeof *c);
    const size_t n = (size_t)m->n_ctx, d = (size_t)m->d_model, ffn = (size_t)m->ffn_max;
    const size_t q = (size_t)m->n_heads * m->head_dim, kv = (size_t)m->n_kv_heads * m->head_dim;

    if (!c)
        return NULL;
    c->model = m;
    c->pool = pool_new(n_threads);
    c->k_cache = buffer(n * m->n_layers, kv);
    c->v_cache = buffer(n * m->n_layers, kv);
    c->x = buffer(n, d);
    c->xn = buffer(n, d);
    c->q = buffer(n, q);
    c->k = buffer(n, kv);
    c->v = buffer(n, kv);
    c->att = buffer(n, q);
    c->gate = buffer(n, ffn);
    c->up = buffer(n, ffn);
    c->act = buffer(n, ffn);
    c->out = buffer(n, d);
    c->logits = buffer(n, (size_t)m->vocab.size);
    if (c->pool && c->k_cache && c->v_cache && c->x && c->xn && c->q && c->k && c->v && c->att &&
        c->gate && c->up && c->act && c->out && c->logits)
        return c;
    context_free(c);
    return NULL;
}

void context_free(struct context *c)
{
    if (!c)
        return;
    float *all[] = { c->k_cache, c->v_cache, c->x, c->xn, c->q, c->k, c->v, c->att,
                     c->gate, c->up, c->act, c->out, c->logits };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    pool_free(c->pool);
    free(c);
}
