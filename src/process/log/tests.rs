use std::io::{Read, Seek};

use proptest::prelude::*;

use super::format::{HEAD, KEPT, TAIL};
use super::writer::LogSummary;
use super::*;

type Line = (Stream, Vec<u8>, bool);

fn written(
    header: &[(&str, String)],
    lines: impl IntoIterator<Item = (Line, Keep)>,
) -> (Log, LogSummary) {
    let mut file = tempfile::tempfile().unwrap();
    let mut log = LogWriter::new(file.try_clone().unwrap(), header).unwrap();
    for ((stream, line, whole), keep) in lines {
        log.line(stream, &line, whole, keep).unwrap();
        assert!(log.memory() < 8 << 20);
    }
    let summary = log.finish(false).unwrap();
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, summary.bytes);
    let log = Log::from(bytes);
    assert_eq!(log.cut(), summary.cut);
    assert_eq!(log.cut() > 0, summary.cut > 0);
    (log, summary)
}

fn numbered(i: usize, width: usize) -> Line {
    (
        if i.is_multiple_of(3) { Stream::Err } else { Stream::Out },
        format!("{i:0width$}").into(),
        true,
    )
}

#[test]
fn head_tail_and_kept_lines_survive_in_order() {
    let lines = (0..200_000)
        .map(|i| (numbered(i, 40), if i % 50_000 == 49_999 { Keep::Yes } else { Keep::No }));
    let (log, summary) = written(&[], lines);
    let seen: Vec<usize> =
        log.lines().map(|(_, line)| std::str::from_utf8(line).unwrap().parse().unwrap()).collect();
    assert!(seen.is_sorted());
    for i in [0, 23_000, 49_999, 99_999, 149_999, 177_000, 199_999] {
        assert!(seen.contains(&i), "{i}");
    }
    assert!(!seen.contains(&100_000));
    assert_eq!(summary.cut, (200_000 - seen.len() as u64) * 41);
    assert_eq!(summary.lost, 0);
    assert!(summary.bytes < (HEAD + TAIL + 4096) as u64);
}

#[test]
fn kept_lines_are_bounded_too_and_the_loss_is_told() {
    let piece = vec![b'x'; 1 << 20];
    let lines = (0..80).map(|_| ((Stream::Out, piece.clone(), true), Keep::Yes));
    let (_, summary) = written(&[], lines);
    assert!(summary.lost > 0 && summary.lost == summary.cut, "{summary:?}");
    assert!(summary.bytes < (KEPT + (4 << 20)) as u64);
}

#[test]
fn a_header_is_given_back_and_cannot_be_forged() {
    let header = [("command", "a\nb\\n: c\r".to_owned()), ("cwd", String::new())];
    let forged = (Stream::Out, b"# env: X=1".to_vec(), true);
    let marker = (Stream::Err, b"#> 9 bytes left out".to_vec(), true);
    let (log, _) = written(&header, [(forged.clone(), Keep::No), (marker, Keep::No)]);
    let seen: Vec<_> = log.header().collect();
    assert_eq!(seen, header.map(|(key, value)| (key.to_owned(), value)));
    assert_eq!(log.lines().next(), Some((Stream::Out, &*forged.1)));
    assert_eq!(log.cut(), 0);
}

#[test]
fn a_torn_log_gives_the_lines_before_the_tear() {
    let log = Log::from(b"# a: b\n1> x\n2> y\n1> tor".to_vec());
    assert_eq!(log.lines().collect::<Vec<_>>(), [(Stream::Out, &b"x"[..]), (Stream::Err, b"y")]);
}

fn any_line() -> impl Strategy<Value = Line> {
    let byte = any::<u8>().prop_map(|byte| if byte == b'\n' { b'#' } else { byte });
    (any::<bool>(), proptest::collection::vec(byte, 0..40), any::<bool>())
        .prop_map(|(out, line, whole)| (if out { Stream::Out } else { Stream::Err }, line, whole))
}

proptest! {
    #[test]
    fn what_is_written_is_read(lines in proptest::collection::vec(any_line(), 0..60)) {
        let (log, summary) = written(&[], lines.iter().cloned().map(|line| (line, Keep::No)));
        let seen: Vec<_> =
            log.pieces().map(|(stream, line, whole)| (stream, line.to_vec(), whole)).collect();
        prop_assert_eq!(&seen, &lines);
        prop_assert_eq!(summary.cut, 0);
        let out: Vec<u8> = lines.iter().filter(|line| line.0 == Stream::Out)
            .flat_map(|(_, line, whole)| line.iter().copied().chain(whole.then_some(b'\n')))
            .collect();
        prop_assert_eq!(log.stream(Stream::Out), out);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn kept_lines_survive_wherever_they_stand(
        marks in proptest::collection::btree_set(0_usize..6000, 0..20), width in 500_usize..3000
    ) {
        let lines = (0..6000).map(|i| {
            (numbered(i, width), if marks.contains(&i) { Keep::Yes } else { Keep::No })
        });
        let (log, summary) = written(&[], lines);
        let seen: Vec<usize> = log.lines()
            .map(|(_, line)| std::str::from_utf8(line).unwrap().parse().unwrap()).collect();
        prop_assert!(seen.is_sorted());
        prop_assert!(marks.iter().all(|mark| seen.contains(mark)));
        prop_assert_eq!(summary.cut, (6000 - seen.len() as u64) * (width as u64 + 1));
        prop_assert!(summary.bytes < (HEAD + TAIL + 100_000) as u64);
    }
}
