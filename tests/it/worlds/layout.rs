//! How the settings of a world's effects lie in files: what `git` sees of a change, and what it
//! takes to undo one.

use super::dice::Dice;
use super::effect::{Content, Effect, Milli, What};
use super::faults::shown;
use super::shape::Shape;

/// How effects on the level are laid out. A failure always has a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each effect has a file of its own.
    Apart,
    /// One file holds a line of each effect, so that later commits change the same file. A line
    /// that never changes lies between two effects, so reverts do not conflict with other effects.
    Together,
    /// The same without such a line: reverts conflict once a neighbouring line has changed.
    Adjacent,
    /// Each effect lies half in one file and half in another.
    Halves,
    /// As `Apart`, and this commit moves all files.
    Moved(usize),
}

impl Layout {
    /// Half of all worlds have a file for each effect.
    pub(crate) fn at_random(shape: &Shape, dice: &mut Dice) -> Self {
        match dice.below(12) {
            0 => Self::Together,
            1 => Self::Adjacent,
            2..4 => Self::Halves,
            4..6 => {
                let way = shape.way(dice);
                Self::Moved(dice.pick(&way))
            }
            _ => Self::Apart,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Apart => "files apart",
            Self::Together => "one file",
            Self::Adjacent => "neighbouring lines",
            Self::Halves => "files in pairs",
            Self::Moved(_) => "moved files",
        }
    }

    /// Names, without extension, and contents of the files in `kernels` at a commit.
    pub(crate) fn files(
        self,
        shape: &Shape,
        effects: &[Effect],
        one: usize,
    ) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let (mut own, mut counters) = (String::new(), String::new());
        let is_shared = matches!(self, Self::Together | Self::Adjacent);
        for (number, effect) in effects.iter().enumerate() {
            let (name, content) = (format!("{number:02}"), effect.at(one));
            match &effect.what {
                What::Level if is_shared => {
                    let between = match self {
                        Self::Together => format!("part {name}\n"),
                        _ => String::new(),
                    };
                    own.push_str(&between);
                    own.push_str(&added(&name, content.amount));
                    counters.push_str(&between);
                    counters.push_str(&added(&format!("{name}b"), -content.countered));
                }
                What::Level => files.extend(self.of_one(&name, content)),
                What::Failure(failure) if content.net() != 0 => {
                    // Two failures never have equal files: in a real tree, different files differ.
                    let text = format!("part {name} fails\n{}", failure.settings());
                    files.push((name, text));
                }
                What::Failure(_) => files.push((name.clone(), format!("part {name} is well\n"))),
            }
        }
        if is_shared {
            files.push(("all".to_owned(), own));
            files.push(("allb".to_owned(), counters));
        }
        if let Self::Moved(from) = self
            && shape.is_ancestor(from, one)
        {
            for (name, _) in &mut files {
                name.insert_str(0, "moved-");
            }
        }
        files
    }

    /// The files of one effect on the level.
    fn of_one(self, name: &str, content: Content) -> Vec<(String, String)> {
        let half = if self == Self::Halves { content.amount / 2 } else { 0 };
        let mut files = vec![(name.to_owned(), added(name, content.amount - half))];
        if self == Self::Halves {
            files.push((format!("{name}a"), added(&format!("{name}a"), half)));
        }
        files.push((format!("{name}b"), added(&format!("{name}b"), -content.countered)));
        files
    }
}

/// The line that adds so much to the level.
fn added(name: &str, amount: Milli) -> String {
    format!("ppl+{name} = {}\n", shown(amount))
}

#[cfg(test)]
mod tests {
    use super::super::shape::Kind;
    use super::*;

    /// The level that these files add up to, in thousandths.
    fn sum(files: &[(String, String)]) -> f64 {
        let lines = files.iter().flat_map(|(_, text)| text.lines());
        let values = lines.filter_map(|line| line.split_once(" = "));
        values.map(|(_, value)| value.parse::<f64>().unwrap() * 1000.0).sum()
    }

    #[test]
    fn no_layout_changes_a_level() {
        let parents = (0..8).map(|one: usize| one.checked_sub(1).into_iter().collect());
        let shape = Shape::new(Kind::Line, parents.collect(), 0, 7);
        let off = Content { amount: 301, countered: 301 };
        let effects = [
            Effect::new(&shape, What::Level, &[(2, Content::of(301)), (5, off)]),
            Effect::level(&shape, &[(3, 500), (6, 77)]),
        ];
        let moved = Layout::Moved(4);
        let all = [Layout::Apart, Layout::Together, Layout::Adjacent, Layout::Halves, moved];
        for layout in all {
            for one in 0..8 {
                let level: Milli = effects.iter().map(|effect| effect.net(one)).sum();
                let files = layout.files(&shape, &effects, one);
                assert!((sum(&files) - level as f64).abs() < 1e-6, "{layout:?}, {one}: {files:?}");
            }
        }
        let names = |one: usize| moved.files(&shape, &effects, one).remove(0).0;
        assert_eq!([names(3), names(4)], ["00", "moved-00"]);
    }
}
