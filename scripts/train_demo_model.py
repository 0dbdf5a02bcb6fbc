"""Train the demo model and write model.bin and corpus.txt.

Run through scripts/train-demo-model, which provides JAX and NumPy. The text
comes from demo_text.py; the file format and the perplexity that is reported
come from demo_reference.py.
"""

import argparse
import collections
import math
import pathlib
import re
import time

import numpy as np

import demo_reference as ref
import demo_text

CONFIG = {
    "vocab": 512, "d_model": 96, "n_layers": 4, "n_heads": 6, "n_kv_heads": 3,
    "head_dim": 16, "n_ctx_max": 512,
    # Two widths are no multiple of 4 on purpose: vectorised engine loops have
    # remainders, and remainders have bugs.
    "ffn": [256, 171, 252, 173],
    "rope_theta": 10000.0, "rms_eps": 1e-5,
}
TRAIN_CHARS = 10_000_000
CORPUS_CHARS = 64_000
# Short contexts are several times cheaper per token on a CPU, so most steps use
# them; the last part of the training extends the model to the full length.
BATCH_TOKENS = 2048
CONTEXT, LONG_CONTEXT, LONG_PART = 256, 512, 0.15
BLOCK = 128   # queries handled at once, which keeps the scores in the cache
PEAK_LR, WARMUP, DECAY = 4e-3, 60, 0.05
# Outlier channels given to the attention projections, see add_outliers().
OUTLIERS, OUTLIER_IN, OUTLIER_VALUE = 4, 5.0, 4.0


def choose_vocabulary(text, size, words=325):
    """Single bytes, the most useful words, and pieces for the other words."""
    # A word is counted with the space before it, so most words are one token.
    counts = collections.Counter(re.findall(r" ?[A-Za-z]+|[.,:]? ?\"|[.,]\n*|\n+", text))
    ranked = sorted((w for w in counts if len(w) > 1), key=lambda w: (-counts[w], w))
    vocab = [b"", b""] + [bytes([b]) for b in [10, *range(32, 127)]]
    chosen = ranked[:words]
    # The remaining words (names of places, mostly) are put together from
    # pieces. The piece that saves most goes in, what it covers is cut out,
    # and the next one is sought in what is left.
    left = collections.Counter({w: counts[w] for w in ranked[words:]})
    while len(vocab) + len(chosen) < size:
        saved = collections.Counter()
        for part, count in left.items():
            for start in range(len(part)):
                for end in range(start + 2, min(start + 6, len(part) + 1)):
                    saved[part[start:end]] += count * (end - start - 1)
        new = [p for p in saved if p not in chosen]
        if not new:
            break
        best = min(new, key=lambda p: (-saved[p], p))
        chosen.append(best)
        rest = collections.Counter()
        for part, count in left.items():
            for piece in part.split(best):
                if len(piece) > 1:
                    rest[piece] += count
        left = rest
    # Room that is left goes to the most frequent of those words after all.
    more = [w for w in ranked[words:] if w not in chosen]
    chosen += more[:size - len(vocab) - len(chosen)]
    vocab += [w.encode("ascii") for w in chosen]
    assert len(vocab) == size and len(set(vocab)) == size - 1
    return vocab


def initial_weights(rng):
    weights = {}
    for key, shape in ref.shapes(CONFIG):
        if len(shape) == 1:
            weights[key] = np.ones(shape, np.float32)
        else:
            scale = 0.05 if key[0] == "tok_emb" else shape[1] ** -0.5
            if key[0] in ("wo", "w_down"):  # they add up over the layers
                scale /= math.sqrt(2 * CONFIG["n_layers"])
            weights[key] = (rng.standard_normal(shape) * scale).astype(np.float32)
    return weights


def make_step(keys, steps):
    """The compiled training step: forward, backward, AdamW."""
    import jax
    import jax.numpy as jnp

    dim, heads, kv_heads = (CONFIG[k] for k in ("head_dim", "n_heads", "n_kv_heads"))
    group, half = heads // kv_heads, dim // 2
    angle = np.arange(LONG_CONTEXT)[:, None] * CONFIG["rope_theta"] ** (-np.arange(half) / half)
    cos, sin = (jnp.asarray(f(angle), jnp.float32)[:, None, :] for f in (np.cos, np.sin))

    def norm(x, w):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + CONFIG["rms_eps"]) * w

    def rotate(x):
        a, b = x[..., :half], x[..., half:]
        c, s = cos[:x.shape[1]], sin[:x.shape[1]]
        return jnp.concatenate([a * c - b * s, a * s + b * c], -1)

    def attend(q, k, v):
        """Causal attention, [batch, kv head, group, query, dim] in and out.
        Each block of queries sees only the keys up to its own end."""
        out = []
        for start in range(0, q.shape[3], BLOCK):
            end = start + BLOCK
            score = jnp.einsum("bkgqd,bksd->bkgqs", q[:, :, :, start:end], k[:, :, :end])
            seen = np.arange(end)[None, :] <= np.arange(start, end)[:, None]
            p = jax.nn.softmax(jnp.where(seen, score / math.sqrt(dim), -1e30), -1)
            out.append(jnp.einsum("bkgqs,bksd->bkgqd", p, v[:, :, :end]))
        return jnp.concatenate(out, 3)

    def loss(w, tokens, targets):
        b, n = tokens.shape
        x = w["tok_emb", None][tokens]
        for i in range(CONFIG["n_layers"]):
            h = norm(x, w["attn_norm", i])
            q = rotate((h @ w["wq", i].T).reshape(b, n, heads, dim))
            k = rotate((h @ w["wk", i].T).reshape(b, n, kv_heads, dim))
            v = (h @ w["wv", i].T).reshape(b, n, kv_heads, dim)
            q = q.reshape(b, n, kv_heads, group, dim).transpose(0, 2, 3, 1, 4)
            mixed = attend(q, k.transpose(0, 2, 1, 3), v.transpose(0, 2, 1, 3))
            mixed = mixed.transpose(0, 3, 1, 2, 4).reshape(b, n, heads * dim)
            x = x + mixed @ w["wo", i].T
            h = norm(x, w["ffn_norm", i])
            x = x + (jax.nn.silu(h @ w["w_gate", i].T) * (h @ w["w_up", i].T)) @ w["w_down", i].T
        logits = norm(x, w["out_norm", None]) @ w["tok_emb", None].T
        picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - picked).mean()

    @jax.jit
    def step(t, w, m1, m2, tokens, targets):
        value, grad = jax.value_and_grad(lambda l: loss(dict(zip(keys, l)), tokens, targets))(w)
        size = jnp.sqrt(sum((g * g).sum() for g in grad))
        clip = jnp.minimum(1.0, 1.0 / (size + 1e-9))
        rate = PEAK_LR * jnp.minimum((t + 1) / WARMUP,
                                     0.02 + 0.98 * 0.5 * (1 + jnp.cos(math.pi * t / steps)))
        new_w, new_1, new_2 = [], [], []
        for key, p, g, a, b in zip(keys, w, grad, m1, m2):
            a, b = 0.9 * a + 0.1 * g * clip, 0.98 * b + 0.02 * (g * clip) ** 2
            update = (a / (1 - 0.9 ** (t + 1))) / (jnp.sqrt(b / (1 - 0.98 ** (t + 1))) + 1e-8)
            new_w.append(p - rate * (update + (DECAY if p.ndim == 2 else 0.0) * p))
            new_1.append(a)
            new_2.append(b)
        return value, new_w, new_1, new_2

    return step


def train(seed, steps, tokens):
    rng = np.random.default_rng(seed)
    weights = initial_weights(rng)
    keys = list(weights)
    w = [weights[k] for k in keys]
    m1, m2 = ([np.zeros_like(p) for p in w] for _ in range(2))
    step, began, recent = make_step(keys, steps), time.time(), []
    for t in range(steps):
        # Chunks begin with <bos> wherever they start in the text, as the
        # perplexity run cuts them. One length covers all shorter ones, for a
        # prefix of a chunk is a shorter chunk.
        context = LONG_CONTEXT if t >= steps * (1 - LONG_PART) else CONTEXT
        batch = BATCH_TOKENS // context
        starts = rng.integers(0, len(tokens) - context, batch)
        target = np.stack([tokens[s:s + context] for s in starts])
        source = np.concatenate([np.full((batch, 1), ref.BOS, np.int32), target[:, :-1]], 1)
        value, w, m1, m2 = step(np.float32(t), w, m1, m2, source, target)
        recent = recent[-49:] + [float(value)]
        if (t + 1) % 50 == 0:
            print(f"step {t + 1:5d}  training PPL {math.exp(np.mean(recent)):7.3f}  "
                  f"{time.time() - began:5.0f} s", flush=True)
    return {k: np.asarray(p) for k, p in zip(keys, w)}


def add_outliers(weights, rng):
    """Rewrite the weights so that a few channels of the attention projections
    are much larger than the rest, without changing what the model computes.

    Large models grow such outliers by themselves, this one is too small for
    it: its projections are so even that rounding them to 4 bits with one scale
    per tensor costs nothing, and such a defect would not show. Two factors
    cancel exactly: an input channel against its norm weight, and a value
    channel against the columns of wo that read it.
    """
    out = dict(weights)
    dim, heads, kv_heads = (CONFIG[k] for k in ("head_dim", "n_heads", "n_kv_heads"))
    for i in range(CONFIG["n_layers"]):
        channel = np.ones(CONFIG["d_model"], np.float32)
        channel[rng.permutation(len(channel))[:OUTLIERS]] = OUTLIER_IN
        value = np.ones((kv_heads, 1, dim), np.float32)
        value[np.arange(kv_heads), 0, rng.integers(0, dim, kv_heads)] = OUTLIER_VALUE
        out["attn_norm", i] = weights["attn_norm", i] / channel
        for name in ("wq", "wk", "wv"):
            out[name, i] = weights[name, i] * channel
        out["wv", i] = out["wv", i] / value.reshape(-1, 1)
        # Every key/value head serves a group of neighbouring query heads.
        out["wo", i] = weights["wo", i] * np.repeat(value, heads // kv_heads, 1).reshape(-1)
    return out


def report(out, n_ctx, ablate):
    config, vocab, weights = ref.read_model(out / "model.bin")
    text = (out / "corpus.txt").read_bytes()
    tokens = ref.tokenize(vocab, text)
    print(f"model {(out / 'model.bin').stat().st_size} bytes, corpus {len(text)} bytes, "
          f"{len(tokens)} tokens, {(tokens == ref.UNK).sum()} of them unknown")
    for n in n_ctx:
        ppl, chunks, count = ref.perplexity(config, weights, tokens, n)
        print(f"n_ctx {n}: PPL {ppl:.6f}  ({chunks} chunks, {count} predictions)", flush=True)
    if ablate:
        intact = None
        for what, ppl in ref.ablations(config, weights, tokens, 256):
            intact = intact or ppl
            print(f"{what:45s} PPL {ppl:8.4f}  {100 * (ppl / intact - 1):+8.2f} %", flush=True)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=root / "demo")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--eval-only", action="store_true",
                        help="only report the perplexity of what is in --out")
    parser.add_argument("--ablate", action="store_true",
                        help="also damage the model in known ways (slow)")
    parser.add_argument("--n-ctx", type=int, nargs="+", default=[128, 256, 512])
    args = parser.parse_args()

    if not args.eval_only:
        began = time.time()
        text = demo_text.generate(args.seed, TRAIN_CHARS)
        # Far from any training seed, so that the corpus is unseen text.
        corpus = demo_text.generate(1_000_000 + args.seed, CORPUS_CHARS)
        vocab = choose_vocabulary(text, CONFIG["vocab"])
        tokens = ref.tokenize(vocab, text.encode("ascii"))
        print(f"training text {len(text)} bytes, {len(tokens)} tokens, "
              f"prepared in {time.time() - began:.0f} s", flush=True)
        weights = train(args.seed, args.steps, tokens)
        weights = add_outliers(weights, np.random.default_rng(args.seed))
        args.out.mkdir(parents=True, exist_ok=True)
        ref.write_model(args.out / "model.bin", CONFIG, vocab, weights)
        (args.out / "corpus.txt").write_bytes(corpus.encode("ascii"))
        print(f"trained in {time.time() - began:.0f} s")
    report(args.out, args.n_ctx, args.ablate)


if __name__ == "__main__":
    main()
