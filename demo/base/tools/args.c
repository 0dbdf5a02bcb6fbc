#include "args.h"

#include "threadpool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void apply(const struct option_spec *s, const char *value)
{
    char *end = NULL;

    if (s->text) {
        *s->text = value;
        return;
    }
    const long v = strtol(value, &end, 10);
    if (*value == '\0' || *end != '\0' || v < 1 || v > 1 << 24) {
        fprintf(stderr, "%s: not a number of 1 or more: %s\n", s->name, value);
        exit(2);
    }
    *s->number = (int)v;
}

void parse_options(int argc, char **argv, int first, const struct option_spec *specs)
{
    for (int i = first; i < argc; i++) {
        const struct option_spec *s = specs;
        while (s->name && strcmp(s->name, argv[i]) != 0)
            s++;
        if (!s->name) {
            fprintf(stderr, "unknown option: %s\n", argv[i]);
            exit(2);
        }
        if (s->flag) {
            *s->flag = 1;
            continue;
        }
        if (i + 1 == argc) {
            fprintf(stderr, "%s: a value is missing\n", s->name);
            exit(2);
        }
        apply(s, argv[++i]);
    }
}

void require_option(const char *name, const char *value)
{
    if (value)
        return;
    fprintf(stderr, "%s is needed\n", name);
    exit(2);
}

struct context *open_context(const char *path, int threads)
{
    struct model *m = model_load(path);
    struct context *c = m ? context_new(m, threads) : NULL;

    if (c)
        return c;
    if (m)
        fprintf(stderr, "context: does not fit into memory\n");
    exit(1);
}

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0, got;

    *size = 0;
    if (!f)
        return NULL;
    do {
        char *more = realloc(text, room += 1 << 16);
        if (!more)
            break;
        text = more;
        got = fread(text + *size, 1, room - *size, f);
        *size += got;
    } while (got > 0);
    const int failed = ferror(f) || !feof(f);
    fclose(f);
    if (!failed)
        return text;
    free(text);
    return NULL;
}

int *read_tokens(const struct model *m, const char *path, size_t *n)
{
    size_t size;
    char *text = read_file(path, &size);
    int *tokens = text ? tokenize(&m->vocab, text, size, n) : NULL;

    free(text);
    if (tokens)
        return tokens;
    fprintf(stderr, "text: %s cannot be read\n", path);
    exit(1);
}

void print_launch(void)
{
    /* The grid of a matrix with as many rows as the largest block has room for. */
    const struct grid g = launch_grid(96, 1);

    printf("launch: block=(%d,1,1) grid=(%d,%d,1)\n", LAUNCH_BLOCK, g.x, g.y);
}
