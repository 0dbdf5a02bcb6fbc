use std::io::Write;

use super::*;

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let literal = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(literal.len()).unwrap().to_le_bytes());
    bytes.extend(literal.as_bytes());
    bytes.extend(data);
    bytes
}

fn kl_base(tokens: [i32; 4], rows: &[u8]) -> Vec<u8> {
    // One chunk of four tokens has one row.
    let numbers = [4, 3, 1].into_iter().chain(tokens);
    let numbers = numbers.flat_map(i32::to_le_bytes);
    b"_logits_".iter().copied().chain(numbers).chain(rows.iter().copied()).collect()
}

fn open(bytes: &[u8]) -> Result<Dump, DumpError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    Dump::open(file.path(), None)
}

#[track_caller]
fn refused(bytes: &[u8]) -> String {
    match open(bytes).unwrap_err() {
        DumpError::Format { what, cure, .. } => {
            assert!(cure.is_some(), "{what}");
            what
        }
        other => panic!("{other}"),
    }
}

#[test]
fn rows_are_read_from_their_place() {
    let data: Vec<u8> = (0..6_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let dump = open(&npy("<f4", "(1, 3, 2)", &data)).unwrap();
    assert_eq!((dump.rows(), dump.length(), dump.shape()), (3, 2, &[1, 3, 2][..]));
    let mut row = [0; 8];
    dump.read_rows(2, &mut row).unwrap();
    assert_eq!(row, data[16..]);
    let vector = open(&npy("<f4", "(6,)", &data)).unwrap();
    assert_eq!((vector.rows(), vector.length()), (1, 6));
    let base = open(&kl_base([1, 2, 3, 4], &[7; 16])).unwrap();
    assert_eq!((base.rows(), base.length(), base.format()), (1, 3, "llama.cpp KL base"));
    let mut row = [0; 16];
    base.read_rows(0, &mut row).unwrap();
    assert_eq!(row, [7; 16]);
}

#[test]
fn files_that_are_not_whole_are_refused() {
    let data = [0; 24];
    let short = refused(&npy("<f4", "(3, 2)", &data[..20]));
    let size = npy("<f4", "(3, 2)", &data).len();
    let expected =
        format!("the file ends early: it has {} of {size} bytes, 2 of 3 positions", size - 4);
    assert_eq!(short, expected);
    assert_eq!(refused(&npy("<f4", "(2, 2)", &data)), "8 bytes follow after the end of the tensor");
    assert_eq!(refused(&npy("<f4", "(0, 5)", &[])), "it has no values: its shape is [0, 5]");
    assert_eq!(refused(&npy("<f4", "()", &[0; 4])), "it has one value and no axis");
    let huge = "(4294967296, 4294967296, 8)";
    let said = "its header names more values than a file can have";
    assert_eq!(refused(&npy("<f4", huge, &data)), said);
    assert_eq!(refused(&npy("<f8", "(4611686018427387904, 4)", &data)), said);
    assert_eq!(
        refused(&npy("<f4", "(1, 5000000)", &data)),
        "a row of 5000000 values is longer than 4194304"
    );
    let whole = npy("<f4", "(3, 2)", &data);
    assert_eq!(refused(&whole[..40]), "the file ends in its header");
    let base = kl_base([1, 2, 3, 4], &[7; 10]);
    assert!(refused(&base).ends_with("0 of 1 positions"), "{}", refused(&base));
    assert_eq!(refused(&base[..15]), "its header cannot be read");
}

#[test]
fn what_is_no_dump_is_named() {
    assert_eq!(refused(b""), "the file is empty");
    assert!(refused(b"PK\x03\x04 and more").starts_with("it is a zip archive"));
    assert!(refused(b"GGUF\x03\0\0\0\0\0\0\0\0").starts_with("it is a GGUF model"));
    assert!(refused(b"some text, no dump").starts_with("it is no .npy"));
    let folder = tempfile::tempdir().unwrap();
    let error = Dump::open(folder.path(), None).unwrap_err();
    assert!(error.to_string().ends_with("it is a folder") && !error.is_external());
    let missing = Dump::open(&folder.path().join("missing"), None).unwrap_err();
    assert!(matches!(missing, DumpError::Open { .. }) && !missing.is_external());
}

#[test]
fn a_file_that_shrinks_is_an_external_fault() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&npy("<f4", "(3, 2)", &[0; 24])).unwrap();
    let dump = Dump::open(file.path(), None).unwrap();
    file.as_file().set_len(90).unwrap();
    let error = dump.read_rows(0, &mut [0; 24]).unwrap_err();
    assert!(error.is_external() && error.hint().unwrap().contains("shortened"), "{error}");
}

#[test]
fn other_tokens_are_found() {
    let files = [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 9, 4]]
        .map(|tokens| open(&kl_base(tokens, &[0; 16])).unwrap());
    files[0].same_tokens(&files[1]).unwrap();
    let error = files[0].same_tokens(&files[2]).unwrap_err().to_string();
    assert_eq!(error, "the files cannot be compared: they differ in token 2");
    let plain = open(&npy("<f4", "(1, 3)", &[0; 12])).unwrap();
    files[0].same_tokens(&plain).unwrap();
}
