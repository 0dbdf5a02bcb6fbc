//! `report.json` as programs get it.

use crate::report::json;

use super::fixture::id;
use super::with_culprit;

#[test]
#[expect(clippy::too_many_lines, reason = "one document")]
fn a_first_bad_commit_in_json() {
    let mut report = with_culprit().report();
    // One commit is enough to show the format.
    report.commits.retain(|commit| commit.commit == id('d'));
    insta::assert_snapshot!(json(&report), @r#"
    {
      "schema": "bisect-ppl/report/1",
      "hunt": "20260102-030405",
      "tool": "bisect-ppl 0.1.0",
      "outcome": "culprit",
      "summary": "One commit raised ppl beyond its limit.",
      "good": {
        "commit": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        "subject": "engine: release",
        "author": "Ada Example <ada@example.org>",
        "date": "2026-01-02T03:04:05Z",
        "asked": "v1.0"
      },
      "bad": {
        "commit": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
        "subject": "sampler: tidy",
        "author": "Ada Example <ada@example.org>",
        "date": "2026-01-02T03:04:05Z",
        "asked": "HEAD"
      },
      "culprit": {
        "commit": "dddddddddddddddddddddddddddddddddddddddd",
        "parent": "cccccccccccccccccccccccccccccccccccccccc",
        "parents": [
          "cccccccccccccccccccccccccccccccccccccccc"
        ],
        "subject": "kv: pad the cache",
        "author": "Ada Example <ada@example.org>",
        "date": "2026-01-02T03:04:05Z",
        "confidence": 1.0,
        "basis": "bit-exact",
        "effect": {
          "metric": "ppl",
          "parent": 7.21,
          "commit": 7.52,
          "own_step": 0.3099999999999996,
          "interval": [
            0.3099999999999996,
            0.3099999999999996
          ],
          "limit": 0.05
        },
        "effects": [
          {
            "metric": "ppl",
            "parent": 7.21,
            "commit": 7.52,
            "own_step": 0.3099999999999996,
            "interval": [
              0.3099999999999996,
              0.3099999999999996
            ],
            "limit": 0.05
          }
        ],
        "failure": null,
        "files": [
          {
            "path": "src/kv_cache.c",
            "added": 3,
            "removed": 1,
            "role": "unknown"
          }
        ],
        "confirmed_before": null
      },
      "parents": [
        "cccccccccccccccccccccccccccccccccccccccc"
      ],
      "culprits": [
        {
          "commit": "dddddddddddddddddddddddddddddddddddddddd",
          "parent": "cccccccccccccccccccccccccccccccccccccccc",
          "parents": [
            "cccccccccccccccccccccccccccccccccccccccc"
          ],
          "subject": "kv: pad the cache",
          "author": "Ada Example <ada@example.org>",
          "date": "2026-01-02T03:04:05Z",
          "confidence": 1.0,
          "basis": "bit-exact",
          "effect": {
            "metric": "ppl",
            "parent": 7.21,
            "commit": 7.52,
            "own_step": 0.3099999999999996,
            "interval": [
              0.3099999999999996,
              0.3099999999999996
            ],
            "limit": 0.05
          },
          "effects": [
            {
              "metric": "ppl",
              "parent": 7.21,
              "commit": 7.52,
              "own_step": 0.3099999999999996,
              "interval": [
                0.3099999999999996,
                0.3099999999999996
              ],
              "limit": 0.05
            }
          ],
          "failure": null,
          "files": [
            {
              "path": "src/kv_cache.c",
              "added": 3,
              "removed": 1,
              "role": "unknown"
            }
          ],
          "confirmed_before": null
        }
      ],
      "candidates": [
        "dddddddddddddddddddddddddddddddddddddddd"
      ],
      "account": {
        "metric": "ppl",
        "total": 0.33,
        "explained": 0.31,
        "rest": 0.02,
        "limit": 0.05
      },
      "accounts": [
        {
          "metric": "ppl",
          "total": 0.33,
          "explained": 0.31,
          "rest": 0.02,
          "limit": 0.05
        }
      ],
      "contributions": [],
      "guards": [
        {
          "metric": "ppl",
          "form": "max_increase",
          "amount": 0.05,
          "limit": 0.05,
          "baseline": 7.21,
          "bad": 7.54,
          "threshold": null,
          "noise": null,
          "target": true,
          "why": "the bad endpoint breaks it"
        },
        {
          "metric": "speed",
          "form": "max_decrease_percent",
          "amount": 10.0,
          "limit": 10.0,
          "baseline": 100.0,
          "bad": 99.0,
          "threshold": null,
          "noise": null,
          "target": false,
          "why": "the bad endpoint keeps it"
        }
      ],
      "target_failure": null,
      "steadiness": "bit-identical",
      "searches": [],
      "posterior": [],
      "commits": [
        {
          "commit": "dddddddddddddddddddddddddddddddddddddddd",
          "subject": "kv: pad the cache",
          "verdict": "bad",
          "reason": "ppl breaks its limit",
          "skip": null,
          "broken": [],
          "p_bad": null,
          "samples": [
            {
              "metric": "ppl",
              "value": 7.52,
              "log": "logs/ppl-a11.log",
              "phase": "confirm",
              "reused": false,
              "attempt": "a11"
            },
            {
              "metric": "ppl.peak_rss_mib",
              "value": 64.0,
              "log": "logs/ppl-a11.log",
              "phase": "confirm",
              "reused": false,
              "attempt": "a11"
            },
            {
              "metric": "ppl.wall_s",
              "value": 1.5,
              "log": "logs/ppl-a11.log",
              "phase": "confirm",
              "reused": false,
              "attempt": "a11"
            }
          ],
          "builds": [
            {
              "attempt": "a10",
              "log": "logs/build-a10.log",
              "phase": "confirm",
              "reused": false,
              "wall_s": 3.0
            }
          ]
        }
      ],
      "totals": {
        "runs": 6,
        "builds": 5,
        "wall_s": 180.0,
        "run_s": 9.0,
        "build_s": 13.0
      },
      "notes": [],
      "inputs": {
        "model": {
          "path": "/data/model.bin",
          "sha256": "abcd"
        }
      },
      "environment": {
        "cc --version": "cc 14.2\n"
      },
      "machine": {
        "cpu": "Example CPU",
        "cores": 2,
        "memory_mib": 4096,
        "gpus": [],
        "kernel": "Linux 6.1",
        "class": "c1"
      },
      "commands": {
        "build": [
          [
            "make",
            "-C",
            "/slots/0/src"
          ]
        ],
        "measures": {
          "ppl": [
            "/slots/0/build/ppl",
            "--text",
            "a b.txt"
          ]
        }
      },
      "options": {
        "search": "auto",
        "first_parent": false,
        "first_only": false,
        "skip": [],
        "paths": []
      },
      "range": 12,
      "began": "2026-01-02T03:04:05Z",
      "git": "2.47.3",
      "config_sha256": "0123",
      "checkout": "/home/ada/engine"
    }
    "#);
}
