//! The header of a `.npy` file, versions 1 to 3.
//!
//! Source: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. The header is
//! a Python literal with three keys. Crates that read it bring a whole parser of Python literals.

use std::sync::LazyLock;

use regex::Regex;

use super::dtype::Encoding;
use super::error::Problem;
use super::head::REDUMP;
use super::layout::Layout;

/// The first bytes of every file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Longer headers are not of an array of floats.
const LONGEST: u32 = 64 << 10;

/// The bytes that [`read`] needs, from the first 12 bytes of the file.
pub(super) fn header_bytes(start: &[u8]) -> Result<usize, Problem> {
    let version = start.get(MAGIC.len()).copied().unwrap_or(0);
    let (begin, length) = match version {
        1 => (10, start.get(8..10).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])))),
        2 | 3 => (12, start.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        _ => return Err(Problem::new(format!("version {version} of .npy is unknown"), RESAVE)),
    };
    match length {
        Some(length) if length <= LONGEST => Ok(begin + length as usize),
        Some(length) => {
            Err(Problem::new(format!("its header of {length} bytes is too long"), RESAVE))
        }
        None => Err(Problem::new("the file ends in its header", REDUMP)),
    }
}

/// Reads a whole header.
pub(super) fn read(header: &[u8]) -> Result<Layout, Problem> {
    static DESCR: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"['"]descr['"]\s*:\s*(['"](?<simple>[^'"]*)['"]|\[)"#));
    static ORDER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"['"]fortran_order['"]\s*:\s*(?<order>True|False)"#));
    static SHAPE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"['"]shape['"]\s*:\s*\((?<shape>[0-9,\sL]*)\)"#));

    let begin = if header.get(MAGIC.len()) == Some(&1) { 10 } else { 12 };
    let text = String::from_utf8_lossy(header.get(begin..).unwrap_or_default()).into_owned();
    let unreadable = || Problem::new("its header cannot be read", RESAVE);
    let descr = DESCR.captures(&text).ok_or_else(unreadable)?;
    let order = ORDER.captures(&text).ok_or_else(unreadable)?;
    let lengths = SHAPE.captures(&text).ok_or_else(unreadable)?;
    let shape: Vec<u64> = lengths["shape"]
        .split(',')
        .map(|length| length.trim().trim_end_matches('L'))
        .filter(|length| !length.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| unreadable())?;
    let stored = descr.name("simple").map_or("a record", |simple| simple.as_str());
    // With at most one axis longer than 1, both orders are the same.
    let has_order = shape.iter().filter(|length| **length != 1).count() > 1;
    if &order["order"] == "True" && has_order {
        let cure = "save it in C order: numpy.save(path, numpy.ascontiguousarray(x))";
        return Err(Problem::new("the array is in Fortran order", cure));
    }
    let encoding = match stored {
        "<f8" => Encoding::F64,
        "<f4" => Encoding::F32,
        "<f2" => Encoding::F16,
        ">f8" | ">f4" | ">f2" => {
            let cure =
                "save it little-endian: numpy.save(path, x.astype(x.dtype.newbyteorder('<')))";
            return Err(Problem::new(format!("its values are big-endian ({stored})"), cure));
        }
        "<V2" | "|V2" => {
            let cure = "numpy has no bfloat16: save it as .safetensors, or as float32";
            return Err(Problem::new(format!("its values have no numeric type ({stored})"), cure));
        }
        other => {
            let cure = "save float16, float32 or float64";
            return Err(Problem::new(format!("its values are not floats ({other})"), cure));
        }
    };
    let offset = header.len() as u64;
    Ok(Layout { tensor: None, encoding, shape, offset, tokens: None })
}

const RESAVE: &str = "save it again with numpy.save";

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: u8, literal: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        let length = u16::try_from(literal.len()).unwrap();
        bytes.extend(length.to_le_bytes());
        if version > 1 {
            bytes.extend([0, 0]);
        }
        bytes.extend(literal.as_bytes());
        bytes
    }

    fn read_literal(literal: &str) -> Result<Layout, Problem> {
        let bytes = header(1, literal);
        assert_eq!(header_bytes(&bytes).unwrap(), bytes.len());
        read(&bytes)
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n";
        for version in [1, 2, 3] {
            let bytes = header(version, text);
            assert_eq!(header_bytes(&bytes[..12]).unwrap(), bytes.len());
            let layout = read(&bytes).unwrap();
            assert_eq!((layout.encoding, layout.shape), (Encoding::F32, vec![3, 4]));
            assert_eq!(layout.offset, bytes.len() as u64);
        }
        let text = r#"{"shape": (5,), "fortran_order": True, "descr": "<f2"}"#;
        let layout = read_literal(text).unwrap();
        assert_eq!((layout.encoding, layout.shape), (Encoding::F16, vec![5]));
    }

    #[test]
    fn what_cannot_be_compared_is_refused_by_name() {
        let of = |descr: &str, order: &str| {
            let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': (3, 4), }}");
            read_literal(&text).unwrap_err().what
        };
        assert_eq!(of("'<f4'", "True"), "the array is in Fortran order");
        assert_eq!(of("'>f4'", "False"), "its values are big-endian (>f4)");
        assert_eq!(of("'|V2'", "False"), "its values have no numeric type (|V2)");
        assert_eq!(of("'<i8'", "False"), "its values are not floats (<i8)");
        assert_eq!(of("[('a', '<f4')]", "False"), "its values are not floats (a record)");
        assert_eq!(read_literal("{}").unwrap_err().what, "its header cannot be read");
        let unknown = header_bytes(&header(9, "")).unwrap_err();
        assert_eq!(unknown.what, "version 9 of .npy is unknown");
        assert_eq!(header_bytes(MAGIC).unwrap_err().what, "version 0 of .npy is unknown");
        assert_eq!(header_bytes(b"\x93NUMPY\x01").unwrap_err().what, "the file ends in its header");
    }
}
