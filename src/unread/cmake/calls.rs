//! Splits a text of CMake into its calls.

/// A call: `set(SOURCES a.c b.c)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// In lower case.
    pub(super) name: String,
    pub(super) args: Vec<String>,
    /// The function or macro whose body has the call.
    pub(super) within: Option<String>,
}

/// The calls of a text. Arguments in inner parentheses count as arguments of the call.
pub(super) fn calls(text: &str) -> Vec<Call> {
    let mut all: Vec<Call> = Vec::new();
    let mut within: Vec<String> = Vec::new();
    let mut call: Option<Call> = None;
    let mut depth = 0;
    let mut name = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_in = call.is_some();
        if let Some((body, after)) = bracket(rest) {
            add(&mut call, body);
            rest = after;
            continue;
        }
        let mut used = c.len_utf8();
        match c {
            '#' => used = comment(rest),
            '(' if !is_in => {
                call = Some(Call { name: name.to_ascii_lowercase(), ..Call::default() });
                depth = 0;
                name.clear();
            }
            '(' => depth += 1,
            ')' if is_in && depth > 0 => depth -= 1,
            ')' => all.extend(call.take().map(|call| placed(call, &mut within))),
            '"' if is_in => {
                let (arg, length) = quoted(rest);
                add(&mut call, &arg);
                used = length;
            }
            _ if is_in && !c.is_whitespace() => {
                let length = bare(rest);
                add(&mut call, &rest[..length]);
                used = length;
            }
            _ if c.is_alphanumeric() || c == '_' => name.push(c),
            _ if !c.is_whitespace() => name.clear(),
            _ => {}
        }
        rest = &rest[used..];
    }
    all
}

fn add(call: &mut Option<Call>, arg: &str) {
    if let Some(call) = call {
        call.args.push(arg.to_owned());
    }
}

/// Notes the function that the call is in.
fn placed(mut call: Call, within: &mut Vec<String>) -> Call {
    let first = || call.args.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
    match call.name.as_str() {
        "function" | "macro" => within.push(first()),
        "endfunction" | "endmacro" => drop(within.pop()),
        _ => {}
    }
    call.within = within.last().cloned();
    call
}

/// A bracket argument `[==[…]==]` at the start, and what follows.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let marks = inner.len() - inner.trim_start_matches('=').len();
    let body = inner[marks..].strip_prefix('[')?;
    body.split_once(&format!("]{}]", "=".repeat(marks)))
}

/// The length of a comment, up to the end of its line or its bracket.
fn comment(text: &str) -> usize {
    match bracket(&text[1..]) {
        Some((_, after)) => text.len() - after.len(),
        None => text.find('\n').unwrap_or(text.len()),
    }
}

/// A quoted argument at the start, and its length with the quotes.
fn quoted(text: &str) -> (String, usize) {
    let mut arg = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (arg, at + 1),
            '\\' => arg.extend(chars.next().map(|(_, c)| c)),
            c => arg.push(c),
        }
    }
    (arg, text.len())
}

/// The length of an unquoted argument at the start. Quotes may be inside: `-DX="a b"`.
fn bare(text: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '(' | ')' | '#' if !is_quoted => return at.max(1),
            c if c.is_whitespace() && !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let shown = |call: Call| {
            let within = call.within.map_or(String::new(), |name| format!(" in {name}"));
            format!("{}: {}{within}", call.name, call.args.join("|"))
        };
        calls(text).into_iter().map(shown).collect()
    }

    #[test]
    fn calls_have_their_arguments() {
        let text = "SET (X a.c # no.c)\n  \"b c.c\" [[d\n.c]])\n#[[ set(N n.c) ]]\n\
                    if((A OR B) AND C)\nendif()\nadd(-DX=\"p q\" $<IF:$(x),y>)";
        let add = "add: -DX=\"p q\"|$<IF:$|x|,y>";
        let calls = ["set: X|a.c|b c.c|d\n.c", "if: A|OR|B|AND|C", "endif: ", add];
        assert_eq!(shown(text), calls);
    }

    #[test]
    fn the_body_of_a_function_is_known() {
        let text = "function(Embed f)\nfoo(${f})\nendfunction()\nembed(k.c)";
        let calls =
            ["function: Embed|f in embed", "foo: ${f} in embed", "endfunction: ", "embed: k.c"];
        assert_eq!(shown(text), calls);
    }

    #[test]
    fn a_text_that_is_no_cmake_ends() {
        for text in ["(", "a(\"", "a([[", "\"(", "a(\\", ")))", "[[", "a(((b)", "ä(ö"] {
            let _ = calls(text);
        }
    }
}
