/* inspect: selftest, dump and logits; what the engine computes, step by step. */
#include "args.h"
#include "npy.h"
#include "selftest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct dump {
    const char *dir;
    FILE *index;
    int next;
};

static void dump_tensor(void *user, const char *name, const float *data, int rows, int cols)
{
    struct dump *d = user;
    char path[4096];

    snprintf(path, sizeof path, "%s/%03d_%s.npy", d->dir, d->next, name);
    if (npy_write(path, data, rows, cols) != 0)
        exit(1);
    fprintf(d->index, "%03d %s %dx%d\n", d->next, name, rows, cols);
    d->next++;
}

/* <bos> and the first n - 1 tokens of the text. */
static int *prompt(const struct model *m, const char *text, int n)
{
    size_t got;
    int *tokens = read_tokens(m, text, &got);
    int *with_bos = malloc((size_t)n * sizeof *with_bos);

    if (n > m->n_ctx || (size_t)n - 1 > got || !with_bos) {
        fprintf(stderr, "--tokens: at most %d, and as many as the text has\n", m->n_ctx);
        exit(2);
    }
    with_bos[0] = TOKEN_BOS;
    memcpy(with_bos + 1, tokens, ((size_t)n - 1) * sizeof *tokens);
    free(tokens);
    return with_bos;
}

static int cmd_dump(int argc, char **argv)
{
    const char *model = NULL, *text = NULL, *dir = NULL;
    int tokens = 16, threads = 1;
    const struct option_spec specs[] = {
        { .name = "--model", .text = &model },      { .name = "--text", .text = &text },
        { .name = "--dir", .text = &dir },          { .name = "--tokens", .number = &tokens },
        { .name = "--threads", .number = &threads }, { 0 },
    };
    char path[4096];

    parse_options(argc, argv, 2, specs);
    require_option("--model", model);
    require_option("--text", text);
    require_option("--dir", dir);
    struct context *c = open_context(model, threads);
    int *ids = prompt(c->model, text, tokens);
    struct dump d = { .dir = dir };
    snprintf(path, sizeof path, "%s/index.txt", dir);
    if ((mkdir(dir, 0777) != 0 && errno != EEXIST) || !(d.index = fopen(path, "w"))) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return 1;
    }
    c->trace = dump_tensor;
    c->trace_user = &d;
    forward(c, ids, tokens, 0, 0);
    free(ids);
    if (fclose(d.index) != 0)
        return 1;
    printf("%d tensors in %s\n", d.next, dir);
    return 0;
}

static int cmd_logits(int argc, char **argv)
{
    const char *model = NULL, *text = NULL, *out = NULL;
    int tokens = 16, threads = 1;
    const struct option_spec specs[] = {
        { .name = "--model", .text = &model },      { .name = "--text", .text = &text },
        { .name = "--out", .text = &out },          { .name = "--tokens", .number = &tokens },
        { .name = "--threads", .number = &threads }, { 0 },
    };

    parse_options(argc, argv, 2, specs);
    require_option("--model", model);
    require_option("--text", text);
    require_option("--out", out);
    struct context *c = open_context(model, threads);
    int *ids = prompt(c->model, text, tokens);
    const float *logits = forward(c, ids, tokens, 0, 0);
    free(ids);
    return npy_write(out, logits, tokens, c->model->vocab.size) == 0 ? 0 : 1;
}

static int cmd_selftest(int argc, char **argv)
{
    const char *shape = NULL;
    const struct option_spec specs[] = { { .name = "--shape", .text = &shape }, { 0 } };
    int rows = 0, cols = 0;
    char rest;

    parse_options(argc, argv, 2, specs);
    if (shape && (sscanf(shape, "%dx%d%c", &rows, &cols, &rest) != 2 || rows < 1 || cols < 1 ||
                  rows > 1 << 14 || cols > 1 << 14)) {
        fprintf(stderr, "--shape: ROWSxCOLS is needed, as in 96x171\n");
        return 2;
    }
    return selftest(rows, cols) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = { { "selftest", cmd_selftest }, { "dump", cmd_dump }, { "logits", cmd_logits } };

    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    fprintf(stderr, "usage: inspect selftest|dump|logits [options]\n");
    return 2;
}
