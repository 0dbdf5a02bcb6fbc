//! How fast two dumps of logits are compared, in bytes of both files per second.
//!
//! `cargo bench --bench logits`. Target: 1 GB/s for each core, for rows of 32,000 values. The files
//! are in the temporary folder and in the page cache. `scripts/bench-logits` compares the program
//! with PyTorch.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bisect_ppl::tensor::{Dump, Settings, compare};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use half::{bf16, f16};
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64Mcg;

const POSITIONS: usize = 512;
const VOCAB: usize = 32_000;

/// How values are written: their type's name for numpy or safetensors, and their bytes.
type Writer = (&'static str, fn(f32) -> Vec<u8>);

const WRITERS: [Writer; 4] = [
    ("F32", |value| value.to_le_bytes().to_vec()),
    ("F16", |value| f16::from_f32(value).to_le_bytes().to_vec()),
    ("BF16", |value| bf16::from_f32(value).to_le_bytes().to_vec()),
    ("F64", |value| f64::from(value).to_le_bytes().to_vec()),
];

/// Writes logits with a standard deviation of 3, and the same with noise of 0.01.
fn write(folder: &Path, (dtype, bytes): Writer) -> [PathBuf; 2] {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let [logits, noise] =
        [3.0, 0.01].map(|sd| Normal::new(0.0_f32, sd).expect("a standard deviation"));
    let paths = ["base", "candidate"].map(|name| folder.join(format!("{name}-{dtype}")));
    let size = bytes(0.0).len() * POSITIONS * VOCAB;
    let header = format!(
        r#"{{"logits":{{"dtype":"{dtype}","shape":[{POSITIONS},{VOCAB}],"data_offsets":[0,{size}]}}}}"#
    );
    let mut files =
        paths.each_ref().map(|path| BufWriter::new(File::create(path).expect("a new file")));
    for file in &mut files {
        file.write_all(&(header.len() as u64).to_le_bytes()).expect("space on the disk");
        file.write_all(header.as_bytes()).expect("space on the disk");
    }
    for _ in 0..POSITIONS * VOCAB {
        let value = logits.sample(&mut random);
        let other = value + noise.sample(&mut random);
        files[0].write_all(&bytes(value)).expect("space on the disk");
        files[1].write_all(&bytes(other)).expect("space on the disk");
    }
    paths
}

fn logits(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for writer in WRITERS {
        let paths = write(folder.path(), writer);
        let [base, candidate] =
            paths.each_ref().map(|path| Dump::open(path, None).expect("what was just written"));
        let sizes = paths.each_ref().map(|path| path.metadata().map_or(0, |meta| meta.len()));
        let mut group = criterion.benchmark_group("logits");
        group.throughput(Throughput::BytesDecimal(sizes.iter().sum())).sample_size(10);
        for threads in [1, cores] {
            let settings = Settings { threads, guard: None };
            group.bench_function(format!("{}, threads {threads}", writer.0), |bencher| {
                bencher.iter(|| {
                    black_box(compare(&base, &candidate, &settings, &|| false).expect("two files"))
                });
            });
        }
        group.finish();
        for path in paths {
            // Ignored: the whole folder is removed at the end.
            let _ = std::fs::remove_file(path);
        }
    }
}

criterion_group!(benches, logits);
criterion_main!(benches);
