#include "threadpool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct block {
    block_fn fn;
    const void *args;
    struct range rows, tokens;
};

struct pool {
    int n_threads;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t filled, taken, finished;
    struct block slot;
    bool full, stop;
    int running;
};

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static void *worker(void *arg)
{
    struct pool *p = arg;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->full && !p->stop)
            pthread_cond_wait(&p->filled, &p->lock);
        if (p->stop)
            break;
        struct block b = p->slot;
        p->full = false;
        p->running++;
        pthread_cond_signal(&p->taken);
        pthread_mutex_unlock(&p->lock);

        b.fn(b.args, b.rows, b.tokens);

        pthread_mutex_lock(&p->lock);
        p->running--;
        if (p->running == 0 && !p->full)
            pthread_cond_signal(&p->finished);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct pool *pool_new(int n_threads)
{
    struct pool *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    pthread_cond_init(&p->taken, NULL);
    pthread_cond_init(&p->finished, NULL);
    if (n_threads < 2)
        return p;
    p->threads = calloc((size_t)n_threads, sizeof *p->threads);
    while (p->threads && p->n_threads < n_threads) {
        if (pthread_create(&p->threads[p->n_threads], NULL, worker, p) != 0)
            break;
        p->n_threads++;
    }
    return p;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->filled);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_threads; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->finished);
    pthread_cond_destroy(&p->taken);
    pthread_cond_destroy(&p->filled);
    pthread_mutex_destroy(&p->lock);
    free(p->threads);
    free(p);
}

struct grid launch_grid(int rows, int tokens)
{
    return (struct grid){ .x = (rows * LANES + LAUNCH_BLOCK - 1) / LAUNCH_BLOCK,
                          .y = (tokens + TOKEN_TILE - 1) / TOKEN_TILE };
}

static struct block block_at(block_fn fn, const void *args, int x, int y, int rows, int tokens)
{
    const int width = LAUNCH_BLOCK / LANES;

    return (struct block){
        .fn = fn,
        .args = args,
        .rows = { x * width, min_int((x + 1) * width, rows) },
        .tokens = { y * TOKEN_TILE, min_int((y + 1) * TOKEN_TILE, tokens) },
    };
}

/* Waits until the slot is free, then leaves the block there for a worker. */
static void hand_over(struct pool *p, struct block b)
{
    while (p->full)
        pthread_cond_wait(&p->taken, &p->lock);
    p->slot = b;
    p->full = true;
    pthread_cond_signal(&p->filled);
}

void launch(struct pool *p, block_fn fn, const void *args, int rows, int tokens)
{
    const struct grid g = launch_grid(rows, tokens);
    const bool alone = p->n_threads == 0 || g.x * g.y == 1;

    if (!alone)
        pthread_mutex_lock(&p->lock);
    for (int y = 0; y < g.y; y++) {
        for (int x = 0; x < g.x; x++) {
            struct block b = block_at(fn, args, x, y, rows, tokens);
            if (alone)
                b.fn(b.args, b.rows, b.tokens);
            else
                hand_over(p, b);
        }
    }
    if (alone)
        return;
    while (p->full || p->running > 0)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
