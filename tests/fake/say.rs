//! Lines that a script lets its engine print.

use std::io::Write;

use crate::script::Script;

pub(crate) fn say(script: &Script) {
    for (key, is_out, is_err) in
        [("say", true, true), ("say_out", true, false), ("say_err", false, true)]
    {
        let Some(line) = script.get(key).map(unescaped) else { continue };
        if is_out {
            std::io::stdout().write_all(&line).unwrap();
        }
        if is_err {
            std::io::stderr().write_all(&line).unwrap();
        }
    }
    if let Some(mib) = script.number("flood_mib") {
        let (mut out, piece) = (std::io::stdout(), vec![b'x'; 1 << 20]);
        (0..mib).for_each(|_| out.write_all(&piece).unwrap());
        out.write_all(b"\n").unwrap();
    }
}

/// A line of the script as bytes: `\e` is escape, `\a` bell, `\n` a line break, `\xff` any byte.
pub(crate) fn unescaped(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        let (byte, length) = match after.as_bytes() {
            [b'e', ..] => (0x1b, 1),
            [b'a', ..] => (0x07, 1),
            [b'n', ..] => (b'\n', 1),
            [b'x', _, _, ..] => (u8::from_str_radix(&after[1..3], 16).expect("two digits"), 3),
            _ => (b'\\', 0),
        };
        bytes.push(byte);
        rest = &after[length..];
    }
    bytes.extend(rest.bytes());
    bytes.push(b'\n');
    bytes
}
