//! Tests of `report.md`.

use crate::report::tests::markdown;

use super::{candidates, with_culprit};

#[test]
fn a_first_bad_commit_in_markdown() {
    let page = markdown(&with_culprit().report()).replace('\u{2060}', "{joiner}");
    insta::assert_snapshot!(page, @r"
    # First bad commit: dddddddddd kv: pad the cache

    - Commit: dddddddddddddddddddddddddddddddddddddddd
    - Author: Ada Example &lt;ada@{joiner}example.org&gt;
    - Date: 2026-01-02 03:04:05Z
    - Parent: cccccccccccccccccccccccccccccccccccccccc
    - Own step: ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05)
    - Confidence: 100 %: every run repeated bit for bit; 0.00 % chance of that by luck

    ## How to reproduce

    The script beside this report builds and measures the first bad commit and its parent in worktrees of its own, and shows their figures one above the other:

    ```sh
    sh reproduce.sh [CLONE]
    ```

    ## What it changes

    | file | lines |
    | --- | --- |
    | src/kv_cache.c | +3 -1 |

    ## Endpoints

    | end | commit | asked for as | subject | date |
    | --- | --- | --- | --- | --- |
    | good | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb | v1.0 | engine: release | 2026-01-02T03:04:05Z |
    | bad | eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee | HEAD | sampler: tidy | 2026-01-02T03:04:05Z |

    | metric | good endpoint | bad endpoint |
    | --- | --- | --- |
    | ppl | 7.21 in 2 runs | 7.54 in 2 runs |
    | ppl.peak_rss_mib | 64 in 2 runs | 64 in 2 runs |
    | ppl.wall_s | 1.5 in 2 runs | 1.5 in 2 runs |

    The values repeat bit for bit, so one run a commit is enough.

    ## Measured commits

    | commit | verdict | ppl | why |
    | --- | --- | --- | --- |
    | bbbbbbbbbb engine: release | good | endpoint [7.21](logs/ppl-a2.log) [7.21](logs/ppl-a3.log) | ppl keeps its limit |
    | eeeeeeeeee sampler: tidy | bad | endpoint [7.54](logs/ppl-a5.log) [7.54](logs/ppl-a6.log) | ppl breaks its limit |
    | ffffffffff | skip |  | does not build: exit code 2 |
    | cccccccccc | good | confirm [7.21](logs/ppl-a9.log) | ppl keeps its limit |
    | dddddddddd kv: pad the cache | bad | confirm [7.52](logs/ppl-a11.log) | ppl breaks its limit |

    ### Time and memory of the runs

    | commit | verdict | ppl.peak_rss_mib | ppl.wall_s |
    | --- | --- | --- | --- |
    | bbbbbbbbbb engine: release | good | endpoint [64](logs/ppl-a2.log) [64](logs/ppl-a3.log) | endpoint [1.5](logs/ppl-a2.log) [1.5](logs/ppl-a3.log) |
    | eeeeeeeeee sampler: tidy | bad | endpoint [64](logs/ppl-a5.log) [64](logs/ppl-a6.log) | endpoint [1.5](logs/ppl-a5.log) [1.5](logs/ppl-a6.log) |
    | ffffffffff | skip |  |  |
    | cccccccccc | good | confirm [64](logs/ppl-a9.log) | confirm [1.5](logs/ppl-a9.log) |
    | dddddddddd kv: pad the cache | bad | confirm [64](logs/ppl-a11.log) | confirm [1.5](logs/ppl-a11.log) |

    ### Builds

    | commit | builds |
    | --- | --- |
    | bbbbbbbbbb engine: release | endpoint [3 s](logs/build-a1.log) |
    | eeeeeeeeee sampler: tidy | endpoint [3 s](logs/build-a4.log) |
    | ffffffffff | search [1 s, failed](logs/build-a7.log) |
    | cccccccccc | confirm [3 s](logs/build-a8.log) |
    | dddddddddd kv: pad the cache | confirm [3 s](logs/build-a10.log) |

    ## Skipped commits

    | commit | why | output |
    | --- | --- | --- |
    | ffffffffff | does not build: exit code 2 | [build](logs/build-a7.log) |

    ## Account

    - ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)

    ## Guards

    | metric | tolerance | good endpoint | bad endpoint | decides | why |
    | --- | --- | --- | --- | --- | --- |
    | ppl | may rise by at most 0.05 | 7.21 | 7.54 (+4.6 %) | yes | the bad endpoint breaks it |
    | speed | may fall by at most 10 % | 100 | 99 (−1 %) | no | the bad endpoint keeps it |

    ## Inputs

    | input | path | SHA-256 |
    | --- | --- | --- |
    | model | /data/model.bin | abcd |

    ## Machine and environment

    - Processor: Example CPU (2 cores)
    - Memory: 4096 MiB
    - GPU: none
    - Kernel: Linux 6.1
    - Git: 2.47.3
    - Made by: bisect-ppl 0.1.0, hunt 20260102-030405

    ```text
    $ cc --version
    cc 14.2
    ```

    ## Commands

    As they ran at the last commit.

    Build:

    ```text
    make -C /slots/0/src
    ```

    ppl:

    ```text
    /slots/0/build/ppl --text 'a b.txt'
    ```

    ## Totals

    6 runs in 9 s and 5 builds in 13 s, within 3 min 00 s. Results that were in the store already are not counted.
    ");
}

#[test]
fn candidates_in_markdown() {
    let page = markdown(&candidates().report());
    let (answer, _) = page.split_once("## Guards").unwrap();
    insta::assert_snapshot!(answer, @r"
    # The first bad commit is one of 2

    Two commits cannot be told apart.

    ## How to reproduce

    The script beside this report builds and measures the two endpoints in worktrees of its own, and shows their figures one above the other:

    ```sh
    sh reproduce.sh [CLONE]
    ```

    ## Candidates

    | commit | subject | what is known |
    | --- | --- | --- |
    | dddddddddddddddddddddddddddddddddddddddd |  | not measured |
    | ffffffffffffffffffffffffffffffffffffffff |  | crashes (signal 11) |

    ## Endpoints

    | end | commit | asked for as | subject | date |
    | --- | --- | --- | --- | --- |
    | good | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb | v1.0 | engine: release | 2026-01-02T03:04:05Z |
    | bad | eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee | HEAD | sampler: tidy | 2026-01-02T03:04:05Z |

    | metric | good endpoint | bad endpoint |
    | --- | --- | --- |
    | ppl | 7.21 in 2 runs | 7.54 in 2 runs |
    | ppl.peak_rss_mib | 64 in 2 runs | 64 in 2 runs |
    | ppl.wall_s | 1.5 in 2 runs | 1.5 in 2 runs |

    The values repeat bit for bit, so one run a commit is enough.

    ## Measured commits

    | commit | verdict | ppl | why |
    | --- | --- | --- | --- |
    | bbbbbbbbbb engine: release | good | endpoint [7.21](logs/ppl-a2.log) [7.21](logs/ppl-a3.log) | ppl keeps its limit |
    | eeeeeeeeee sampler: tidy | bad | endpoint [7.54](logs/ppl-a5.log) [7.54](logs/ppl-a6.log) | ppl breaks its limit |
    | ffffffffff | skip | search [crashes (signal 11)](logs/ppl-a7.log) | crashes (signal 11) |

    ### Time and memory of the runs

    | commit | verdict | ppl.peak_rss_mib | ppl.wall_s |
    | --- | --- | --- | --- |
    | bbbbbbbbbb engine: release | good | endpoint [64](logs/ppl-a2.log) [64](logs/ppl-a3.log) | endpoint [1.5](logs/ppl-a2.log) [1.5](logs/ppl-a3.log) |
    | eeeeeeeeee sampler: tidy | bad | endpoint [64](logs/ppl-a5.log) [64](logs/ppl-a6.log) | endpoint [1.5](logs/ppl-a5.log) [1.5](logs/ppl-a6.log) |
    | ffffffffff | skip | search [64](logs/ppl-a7.log) | search [1.5](logs/ppl-a7.log) |

    ### Builds

    | commit | builds |
    | --- | --- |
    | bbbbbbbbbb engine: release | endpoint [3 s](logs/build-a1.log) |
    | eeeeeeeeee sampler: tidy | endpoint [3 s](logs/build-a4.log) |

    ## Skipped commits

    | commit | why | output |
    | --- | --- | --- |
    | ffffffffff | crashes (signal 11) | [ppl](logs/ppl-a7.log) |
    ");
}
