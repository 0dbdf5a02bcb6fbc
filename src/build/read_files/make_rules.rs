//! Reads the rules that compilers write for make: which files an object depends on. Cargo and rustc
//! write the same form.
//!
//! Source: `-MD` in <https://gcc.gnu.org/onlinedocs/gcc/Preprocessor-Options.html>, and the chapter
//! "Rules" of GNU make's manual.

/// A rule: targets, and the files that they depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) targets: Vec<String>,
    pub(super) needs: Vec<String>,
}

/// The rules of a dependency file that have dependencies. `-MP` adds rules without any.
pub(super) fn rules(text: &str) -> Vec<Rule> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let lines = joined.lines().filter(|line| !line.trim_start().starts_with('#'));
    let rules = lines.filter_map(rule);
    rules.filter(|rule| !rule.targets.is_empty() && !rule.needs.is_empty()).collect()
}

fn rule(line: &str) -> Option<Rule> {
    let mut rule = Rule::default();
    let mut is_need = false;
    let mut word = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match (c, next) {
            ('\\', Some(escaped @ (' ' | '#' | ':' | '\\'))) => {
                word.push(escaped);
                chars.next();
            }
            ('$', Some('$')) => {
                word.push('$');
                chars.next();
            }
            (':', None | Some(' ' | '\t')) if !is_need => {
                end(&mut word, &mut rule.targets);
                is_need = true;
            }
            (' ' | '\t', _) => {
                end(&mut word, if is_need { &mut rule.needs } else { &mut rule.targets });
            }
            _ => word.push(c),
        }
    }
    end(&mut word, if is_need { &mut rule.needs } else { &mut rule.targets });
    is_need.then_some(rule)
}

fn end(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(targets: &[&str], needs: &[&str]) -> Rule {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Rule { targets: owned(targets), needs: owned(needs) }
    }

    #[test]
    fn what_gcc_writes_is_read() {
        let text = "obj/a.o obj/a.d: src/a.c \\\n ../inc/my\\ table.h /usr/include/stdio.h\n\
                    ../inc/my\\ table.h:\n\n";
        let needs = ["src/a.c", "../inc/my table.h", "/usr/include/stdio.h"];
        assert_eq!(rules(text), [rule(&["obj/a.o", "obj/a.d"], &needs)]);
    }

    #[test]
    fn what_rustc_writes_is_read() {
        let text = "/t/deps/a-1.d: src/main.rs src/k.rs\n\n/t/deps/a-1: src/main.rs src/k.rs\n\n\
                    src/main.rs:\nsrc/k.rs:\n\n# env-dep:X=1\n# src/no.rs: src/x.rs\n";
        let needs = ["src/main.rs", "src/k.rs"];
        assert_eq!(rules(text), [rule(&["/t/deps/a-1.d"], &needs), rule(&["/t/deps/a-1"], &needs)]);
    }

    #[test]
    fn escapes_stand_for_their_character() {
        assert_eq!(
            rules("a.o: b\\#1.c c$$d.h C:x.h\n"),
            [rule(&["a.o"], &["b#1.c", "c$d.h", "C:x.h"])]
        );
        assert_eq!(rules("# dummy\n"), []);
        assert_eq!(rules("no rule\n"), []);
    }
}
