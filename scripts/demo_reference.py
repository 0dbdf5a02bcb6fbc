"""The demo model's file format, tokenizer and an independent forward pass.

Everything here is plain NumPy in float32 and written for being read, not for
speed: it is what the demo engine's numbers can be compared with. It shares no
code with the training graph, so a mistake in either shows as a difference.

File layout (little-endian, nothing is padded or aligned):

    8 bytes  "bpmodel1"
    u32 x 7  vocab, d_model, n_layers, n_heads, n_kv_heads, head_dim, n_ctx_max
    u32      FFN width, one per layer
    f32 x 2  rope_theta, rms_eps
    vocab    per token: u8 length, then that many bytes (0 <unk> and 1 <bos>
             have length 0)
    weights  matrices f16, row-major [d_out, d_in] for y = W x; norms f32:
             tok_emb, then per layer attn_norm wq wk wv wo ffn_norm w_gate
             w_up w_down, finally out_norm; the head is tok_emb again
"""

import struct

import numpy as np

MAGIC = b"bpmodel1"
UNK, BOS = 0, 1
FIELDS = "vocab d_model n_layers n_heads n_kv_heads head_dim n_ctx_max".split()


def shapes(config):
    """Name, layer and shape of every weight in file order; 1-d ones are norms."""
    d, q = config["d_model"], config["n_heads"] * config["head_dim"]
    kv = config["n_kv_heads"] * config["head_dim"]
    out = [(("tok_emb", None), (config["vocab"], d))]
    for i, ffn in enumerate(config["ffn"]):
        for name, shape in (("attn_norm", (d,)), ("wq", (q, d)), ("wk", (kv, d)),
                            ("wv", (kv, d)), ("wo", (d, q)), ("ffn_norm", (d,)),
                            ("w_gate", (ffn, d)), ("w_up", (ffn, d)), ("w_down", (d, ffn))):
            out.append(((name, i), shape))
    return out + [(("out_norm", None), (d,))]


def write_model(path, config, vocab, weights):
    with open(path, "wb") as f:
        f.write(MAGIC)
        f.write(struct.pack("<7I", *(config[k] for k in FIELDS)))
        f.write(struct.pack(f"<{config['n_layers']}I", *config["ffn"]))
        f.write(struct.pack("<2f", config["rope_theta"], config["rms_eps"]))
        for token in vocab:
            f.write(bytes([len(token)]) + token)
        for key, shape in shapes(config):
            w = np.asarray(weights[key])
            assert w.shape == shape, (key, w.shape, shape)
            f.write(w.astype("<f4" if len(shape) == 1 else "<f2").tobytes())


def read_model(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == MAGIC, "not a demo model"
    at = 8
    config = dict(zip(FIELDS, struct.unpack_from("<7I", data, at)))
    at += 28
    config["ffn"] = list(struct.unpack_from(f"<{config['n_layers']}I", data, at))
    at += 4 * config["n_layers"]
    config["rope_theta"], config["rms_eps"] = struct.unpack_from("<2f", data, at)
    at += 8
    vocab = []
    for _ in range(config["vocab"]):
        vocab.append(data[at + 1:at + 1 + data[at]])
        at += 1 + data[at]
    weights = {}
    for key, shape in shapes(config):
        kind = np.dtype("<f4" if len(shape) == 1 else "<f2")
        count = int(np.prod(shape))
        weights[key] = np.frombuffer(data, kind, count, at).reshape(shape).astype(np.float32)
        at += count * kind.itemsize
    assert at == len(data), "trailing bytes"
    return config, vocab, weights


def tokenize(vocab, text):
    """Greedy longest match from left to right."""
    ids = {token: i for i, token in enumerate(vocab) if token}
    longest = max(map(len, ids))
    out, at = [], 0
    while at < len(text):
        for n in range(longest, 0, -1):
            token = ids.get(text[at:at + n])
            if token is not None:
                break
        else:
            token, n = UNK, 1
        out.append(token)
        at += n
    return np.array(out, np.int32)


def rms_norm(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def rope(x, theta, interleaved=False):
    """Rotate [tokens, heads, head_dim]. The model uses pairs (i, i + half);
    `interleaved` pairs (2i, 2i + 1) are the mistake the ablation makes."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[0])[:, None] * theta ** (-np.arange(half) / half)
    cos, sin = (f(angle).astype(np.float32)[:, None, :] for f in (np.cos, np.sin))
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    out = np.empty_like(x)
    ra, rb = a * cos - b * sin, a * sin + b * cos
    if interleaved:
        out[..., ::2], out[..., 1::2] = ra, rb
    else:
        out[..., :half], out[..., half:] = ra, rb
    return out


def forward(config, w, tokens, interleaved=False):
    """Logits [tokens, vocab] of one chunk."""
    n, dim, eps = len(tokens), config["head_dim"], config["rms_eps"]
    heads, kv_heads = config["n_heads"], config["n_kv_heads"]
    future = np.triu(np.full((n, n), -np.inf, np.float32), 1)
    x = w["tok_emb", None][tokens]
    for i in range(config["n_layers"]):
        h = rms_norm(x, w["attn_norm", i], eps)
        q = rope((h @ w["wq", i].T).reshape(n, heads, dim), config["rope_theta"], interleaved)
        k = rope((h @ w["wk", i].T).reshape(n, kv_heads, dim), config["rope_theta"], interleaved)
        v = (h @ w["wv", i].T).reshape(n, kv_heads, dim)
        mixed = np.empty((n, heads, dim), np.float32)
        for head in range(heads):
            shared = head // (heads // kv_heads)
            score = q[:, head] @ k[:, shared].T / np.float32(np.sqrt(dim)) + future
            p = np.exp(score - score.max(-1, keepdims=True))
            mixed[:, head] = p / p.sum(-1, keepdims=True) @ v[:, shared]
        x = x + mixed.reshape(n, heads * dim) @ w["wo", i].T
        h = rms_norm(x, w["ffn_norm", i], eps)
        gate = h @ w["w_gate", i].T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ w["w_up", i].T)) @ w["w_down", i].T
    return rms_norm(x, w["out_norm", None], eps) @ w["tok_emb", None].T


def perplexity(config, weights, tokens, n_ctx, interleaved=False, max_chunks=None):
    """(PPL, chunks, predictions) by the engine's rule: each chunk is <bos> and
    n_ctx - 1 corpus tokens, a rest too short for a chunk is dropped, and only
    the predictions made at positions n_ctx/2 .. n_ctx-2 count, so that every
    one of them has at least half a context before it."""
    step, first = n_ctx - 1, n_ctx // 2
    chunks = len(tokens) // step
    chunks = min(chunks, max_chunks) if max_chunks else chunks
    total, count = 0.0, 0
    for c in range(chunks):
        chunk = np.concatenate([[BOS], tokens[c * step:(c + 1) * step]])
        logits = forward(config, weights, chunk, interleaved)[first:-1].astype(np.float64)
        top = logits.max(-1, keepdims=True)
        log_sum = np.log(np.exp(logits - top).sum(-1)) + top[:, 0]
        total += (log_sum - logits[np.arange(len(logits)), chunk[first + 1:]]).sum()
        count += len(logits)
    return float(np.exp(total / count)), chunks, count


def four_bit(w):
    """Symmetric 4-bit rounding with one scale for the whole tensor."""
    scale = np.abs(w).max() / 7
    return (np.round(w / scale) * scale).astype(np.float32)


def ablations(config, weights, tokens, n_ctx, max_chunks=None):
    """Yield (what was damaged, PPL). Every part of the model has to matter,
    else a defect in an engine would not show in its perplexity."""
    def ppl(changed=None, **how):
        return perplexity(config, {**weights, **(changed or {})}, tokens, n_ctx,
                          max_chunks=max_chunks, **how)[0]

    yield "intact", ppl()
    yield "interleaved instead of rotate-half RoPE", ppl(interleaved=True)
    order = np.random.default_rng(0)
    for i, ffn in enumerate(config["ffn"]):
        key = ("w_down", i)
        yield f"layer {i}: w_down columns shuffled (FFN {ffn})", ppl(
            {key: weights[key][:, order.permutation(ffn)]})
        tail = weights[key].copy()
        tail[:, ffn // 4 * 4 - 4 * (ffn % 4 == 0):] = 0
        yield f"layer {i}: last {ffn % 4 or 4} FFN channels dropped", ppl({key: tail})
        yield f"layer {i}: no attention", ppl({("wo", i): 0 * weights["wo", i]})
    projections = [k for k in weights if k[0] in ("wq", "wk", "wv", "wo")]
    yield "attention projections in 4 bits", ppl({k: four_bit(weights[k]) for k in projections})
    for name in ("wq", "wk", "wv", "wo"):
        yield f"{name} in 4 bits", ppl({k: four_bit(weights[k]) for k in projections if k[0] == name})
