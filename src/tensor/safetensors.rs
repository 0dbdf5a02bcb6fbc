//! The header of a `.safetensors` file.
//!
//! Source: <https://huggingface.co/docs/safetensors/index#format>.

use std::collections::HashMap;

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::dtype::Encoding;
use super::error::Problem;
use super::layout::Layout;

/// Longer headers are refused, because they would take the memory that this program promises not to
/// use. A model with 10,000 tensors has about 1 MiB.
const LONGEST: u64 = 8 << 20;

/// Maximum number of names in a message.
const NAMES: usize = 10;

/// Whether a file that begins with these bytes is a `.safetensors` file: 8 bytes with the length of
/// the header, and a brace.
pub(super) fn is_start(start: &[u8]) -> bool {
    start.get(8) == Some(&b'{')
}

/// The bytes that [`read`] needs, from the first 8 bytes of the file.
pub(super) fn header_bytes(start: &[u8]) -> Result<usize, Problem> {
    let length = start.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    match usize::try_from(length) {
        Ok(bytes) if length <= LONGEST => Ok(8 + bytes),
        _ => Err(Problem::new(
            format!("its header of {length} bytes is too long"),
            "save the logits alone, in a file of their own",
        )),
    }
}

/// Reads a whole header and chooses a tensor: the named one, or the only one. Also returns where
/// the file must end.
pub(super) fn read(header: &[u8], name: Option<&str>) -> Result<(Layout, u64), Problem> {
    let metadata = metadata(header)?;
    let names = metadata.offset_keys();
    let chosen = match (name, names.as_slice()) {
        (Some(name), _) => names.iter().find(|one| *one == name).ok_or_else(|| {
            Problem::new(
                format!("there is no tensor `{name}`; it has {}", list(&names)),
                "correct the name",
            )
        })?,
        (None, [only]) => only,
        (None, []) => return Err(Problem::new("it has no tensor", "write the file again")),
        (None, _) => {
            let what = format!("it has {} tensors: {}", names.len(), list(&names));
            return Err(Problem::new(what, "choose one with --tensor NAME"));
        }
    };
    let layout = layout(header, &metadata, chosen)?;
    Ok((layout, header.len() as u64 + metadata.data_len() as u64))
}

/// All tensors of a file, by their place in it.
pub(super) struct Contents {
    /// Each tensor's name and layout, or why it cannot be read.
    pub(super) tensors: Vec<(String, Result<Layout, Problem>)>,
    /// Where the file must end.
    pub(super) end: u64,
    /// Texts that the writing program added to the header, by name.
    pub(super) texts: HashMap<String, String>,
}

/// Reads a whole header.
pub(super) fn read_all(header: &[u8]) -> Result<Contents, Problem> {
    let metadata = metadata(header)?;
    let names = metadata.offset_keys();
    let tensors = names.into_iter().map(|name| {
        let layout = layout(header, &metadata, &name);
        (name, layout)
    });
    Ok(Contents {
        tensors: tensors.collect(),
        end: header.len() as u64 + metadata.data_len() as u64,
        texts: metadata.metadata().clone().unwrap_or_default(),
    })
}

fn metadata(header: &[u8]) -> Result<Metadata, Problem> {
    // `SafeTensors::read_metadata` would need the whole file in memory.
    serde_json::from_slice(header.get(8..).unwrap_or_default()).map_err(|error| {
        Problem::new(format!("its header cannot be read ({error})"), "write the file again")
    })
}

/// Where a tensor of the header is.
fn layout(header: &[u8], metadata: &Metadata, chosen: &str) -> Result<Layout, Problem> {
    let info = metadata.info(chosen).expect("the name is from the same header");
    let encoding = match info.dtype {
        Dtype::F64 => Encoding::F64,
        Dtype::F32 => Encoding::F32,
        Dtype::F16 => Encoding::F16,
        Dtype::BF16 => Encoding::Bf16,
        other => {
            let what = format!("tensor `{chosen}` has values of type {other:?}");
            return Err(Problem::new(what, "save F16, BF16, F32 or F64"));
        }
    };
    Ok(Layout {
        tensor: Some(chosen.to_owned()),
        encoding,
        shape: info.shape.iter().map(|length| *length as u64).collect(),
        offset: header.len() as u64 + info.data_offsets.0 as u64,
        tokens: None,
    })
}

/// The first names, and how many more there are.
fn list(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(NAMES) {
        Some(more) if more > 0 => format!("{} and {more} more", some.join(", ")),
        _ => some.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(json: &str) -> Vec<u8> {
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        assert!(is_start(&bytes));
        assert_eq!(header_bytes(&bytes).unwrap(), bytes.len());
        bytes
    }

    fn entry(name: &str, dtype: &str, begin: usize, end: usize) -> String {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":[2,3],"data_offsets":[{begin},{end}]}}"#)
    }

    #[test]
    fn the_only_tensor_or_the_named_one_is_chosen() {
        let one = header(&format!("{{{}}}", entry("logits", "BF16", 0, 12)));
        let (layout, end) = read(&one, None).unwrap();
        let expected = Layout {
            tensor: Some("logits".to_owned()),
            encoding: Encoding::Bf16,
            shape: vec![2, 3],
            offset: one.len() as u64,
            tokens: None,
        };
        assert_eq!((layout, end), (expected, one.len() as u64 + 12));
        let two =
            header(&format!("{{{},{}}}", entry("b", "F16", 0, 12), entry("a", "F32", 12, 36)));
        let (layout, end) = read(&two, Some("a")).unwrap();
        assert_eq!((layout.offset, layout.encoding), (two.len() as u64 + 12, Encoding::F32));
        assert_eq!(end, two.len() as u64 + 36);
        assert_eq!(read(&two, None).unwrap_err().what, "it has 2 tensors: `b`, `a`");
        let missing = read(&two, Some("c")).unwrap_err();
        assert_eq!(missing.what, "there is no tensor `c`; it has `b`, `a`");
    }

    #[test]
    fn what_is_no_tensor_of_floats_is_refused() {
        let whole = header(&format!("{{{}}}", entry("ids", "I16", 0, 12)));
        assert_eq!(read(&whole, None).unwrap_err().what, "tensor `ids` has values of type I16");
        assert!(
            read(&header("{]"), None).unwrap_err().what.starts_with("its header cannot be read")
        );
        assert_eq!(read(&header("{}"), None).unwrap_err().what, "it has no tensor");
        let long = header_bytes(&(1_u64 << 40).to_le_bytes()).unwrap_err();
        assert_eq!(long.what, "its header of 1099511627776 bytes is too long");
    }
}
