use super::*;
use crate::config::KLD_NAMES;
use crate::evaluation::TextLength;

const TABLE_2026: &str = "\
0.00.412.001 I kl_divergence: computing over 3 chunks, n_ctx=512, batch_size=2048, n_seq=4
0.32 minutes

chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              Δp RMS            Same top p
   1      17.1234 ±    0.4421       0.00180 ±    0.00091       0.00690 ±    0.00031     1.201 ±  0.098 %    93.725 ±  1.520 %
   2      16.9012 ±    0.3312      -0.00210 ±       -nan       0.00701 ±    0.00023     1.187 ±  0.071 %    93.922 ±  1.059 %
   3      17.0805 ±    0.2719       0.00475 ±    0.00051       0.00693 ±    0.00019     1.190 ±  0.058 %    93.856 ±  0.869 %
";

const STATISTICS_2026: &str = "
====== Perplexity statistics ======
Mean PPL(Q)                   :  17.080512 ±   0.271904
Mean PPL(base)                :  16.999712 ±   0.270011
Cor(ln(PPL(Q)), ln(PPL(base))):  99.67%
Mean ln(PPL(Q)/PPL(base))     :   0.004742 ±   0.000512
Mean PPL(Q)/PPL(base)         :   1.004753 ±   0.000514
Mean PPL(Q)-PPL(base)         :   0.080800 ±   0.024527

====== KL divergence statistics ======
Mean    KLD:   0.006929 ±   0.000190
Maximum KLD:   0.412345
99.9%   KLD:   0.201234
99.0%   KLD:   0.041234
95.0%   KLD:   0.021234
90.0%   KLD:   0.015234
Median  KLD:   0.004123
10.0%   KLD:   0.000412
 5.0%   KLD:   0.000123
 1.0%   KLD:   0.000011
 0.1%   KLD:  -0.000002
Minimum KLD:  -0.000041

====== Token probability statistics ======
Mean    Δp: -0.012 ± 0.042 %
Maximum Δp: 12.345%
99.9%   Δp:  9.101%
99.0%   Δp:  4.101%
95.0%   Δp:  1.801%
90.0%   Δp:  1.001%
75.0%   Δp:  0.201%
Median  Δp:  0.000%
25.0%   Δp: -0.198%
10.0%   Δp: -1.043%
 5.0%   Δp: -1.870%
 1.0%   Δp: -4.215%
 0.1%   Δp: -9.413%
Minimum Δp: -15.004%
RMS Δp    :  1.190 ± 0.058 %
Same top p: 93.856 ± 0.869 %
";

fn read(output: &str) -> Result<Reading, Failure> {
    let mut parser = Divergence::new("kld");
    for line in output.lines() {
        parser.line(line);
    }
    parser.finish()
}

fn failure(output: &str) -> (FailureKind, String) {
    let failure = read(output).unwrap_err();
    (failure.kind, failure.detail)
}

fn value(reading: &Reading, name: &str) -> f64 {
    reading.values[&Metric::named("kld", name)].number().unwrap()
}

#[test]
fn names_are_those_that_a_guard_may_be_on() {
    let mut own: Vec<&str> = LABELS.iter().chain(&OLD_LABELS).map(|(_, name)| *name).collect();
    own.sort_unstable();
    own.dedup();
    let mut known = KLD_NAMES.to_vec();
    known.sort_unstable();
    assert_eq!(own, known);
    assert!(known.iter().all(|name| format!("kld.{name}").parse::<Metric>().is_ok()));
}

#[test]
fn output_of_2026() {
    let reading = read(&format!("{TABLE_2026}{STATISTICS_2026}")).unwrap();
    assert_eq!(reading.values.len(), LABELS.len());
    for (name, expected) in [
        ("ppl", 17.080_512),
        ("ppl_correlation", 99.67),
        ("mean_ln_ppl_ratio", 0.004_742),
        ("mean_ppl_diff", 0.0808),
        ("mean_kld", 0.006_929),
        ("kld_99_9", 0.201_234),
        ("kld_0_1", -0.000_002),
        ("min_kld", -0.000_041),
        ("mean_dp", -0.012),
        ("dp_0_1", -9.413),
        ("rms_dp", 1.19),
        ("same_top_p", 93.856),
    ] {
        assert_eq!(value(&reading, name).to_bits(), f64::to_bits(expected), "{name}");
    }
    assert_eq!(reading.chunks, [0.0069, 0.00701, 0.00693]);
    assert_eq!(reading.text_length(), Some(TextLength { chunks: 3, context: Some(512) }));
}

#[test]
fn output_of_2024_and_2025_announces_no_chunks_and_has_fewer_percentiles() {
    let table = TABLE_2026.split_once('\n').unwrap().1;
    let left_out = ["95.0%   KLD", "90.0%   KLD", " 0.1%   KLD"];
    let lines = STATISTICS_2026.lines();
    let statistics: Vec<_> =
        lines.filter(|line| !left_out.iter().any(|start| line.starts_with(start))).collect();
    // Until 2025-09-15 the output has the same percentile twice.
    let statistics =
        statistics.join("\n").replace("Median  KLD", "99.0%   KLD:   0.041234\nMedian  KLD");
    let reading = read(&format!("{table}{statistics}\n")).unwrap();
    assert_eq!(reading.values.len(), LABELS.len() - left_out.len());
    assert_eq!(reading.text_length(), Some(TextLength { chunks: 3, context: None }));
    assert_eq!(value(&reading, "kld_99").to_bits(), 0.041_234_f64.to_bits());
}

const OUTPUT_2024_01: &str = "\
kl_divergence: 0.32 seconds per pass - ETA 0.02 minutes

chunk        PPL          ln(PPL(Q)/PPL(base))          KL-Divergence           Same top
   1       17.1234       0.00180 ±    0.00091       0.00690 ±    0.00031    0.93725 ± 0.01520
   2       17.0805       0.00475 ±    0.00051       0.00693 ±    0.00019    0.93873 ± 0.00869

===== KL-divergence statistics
Average:   0.006930 ±  0.000190
Median :   0.004123
Maximum:   0.412345
KLD_99 :   0.041234
KLD_95 :   0.021234
KLD_90 :   0.015234
Minimum:  -0.000041
KLD_01 :   0.000011
KLD_05 :   0.000123
KLD_10 :   0.000412
";

#[test]
fn output_of_january_2024_takes_the_rest_from_its_last_row() {
    let reading = read(OUTPUT_2024_01).unwrap();
    assert_eq!(reading.values.len(), 13);
    for (name, expected) in [
        ("mean_kld", 0.006_93),
        ("kld_1", 0.000_011),
        ("ppl", 17.0805),
        ("mean_ln_ppl_ratio", 0.004_75),
        ("same_top_p", 93.873),
    ] {
        assert_eq!(value(&reading, name).to_bits(), f64::to_bits(expected), "{name}");
    }
    assert_eq!(reading.chunks, [0.0069, 0.00693]);
}

#[test]
fn old_labels_count_only_below_the_old_heading() {
    let loading = format!("Maximum: 7\nKLD_10 : 1\n{TABLE_2026}{STATISTICS_2026}Median : 3\n");
    let plain = read(&format!("{TABLE_2026}{STATISTICS_2026}")).unwrap();
    assert_eq!(read(&loading).unwrap(), plain);
}

#[test]
fn nan_is_bad_wherever_a_value_belongs() {
    let whole = format!("{TABLE_2026}{STATISTICS_2026}");
    for (from, to, place) in [
        ("16.9012", "nan", "PPL after chunk 2 is nan"),
        ("0.00701", "-nan", "KLD after chunk 2 is nan"),
        ("0.412345", "inf", "kld.max_kld is inf"),
        ("99.67%", "-nan%", "kld.ppl_correlation is nan"),
    ] {
        assert_eq!(failure(&whole.replace(from, to)), (FailureKind::Nan, place.to_owned()));
    }
    // Even if the output is cut.
    let cut = TABLE_2026.replace("16.9012", "nan");
    assert_eq!(failure(&cut).0, FailureKind::Nan);
}

#[test]
fn what_stops_before_its_end_is_incomplete() {
    let whole = format!("{TABLE_2026}{STATISTICS_2026}");
    let without_last = whole.split_once("Same top p:").unwrap().0;
    assert_eq!(
        failure(without_last),
        (FailureKind::Incomplete, "3 of 3 chunks, the statistics are missing or incomplete".into())
    );
    let rows: Vec<_> = TABLE_2026.lines().take(6).collect();
    assert_eq!(
        failure(&rows.join("\n")),
        (FailureKind::Incomplete, "2 of 3 chunks, the statistics are missing or incomplete".into())
    );
    let lost = whole.replace("   3      17.0805", "   4      17.0805");
    assert_eq!(failure(&lost), (FailureKind::Incomplete, "2 of 3 chunks".into()));
    let old = OUTPUT_2024_01.split_once("KLD_10").unwrap().0;
    assert_eq!(
        failure(old),
        (FailureKind::Incomplete, "2 chunks, the statistics are missing or incomplete".into())
    );
    assert_eq!(failure("usage: x\n").0, FailureKind::Unreadable);
}
