//! A world: a history, effects of its commits, failures, flakes, leaks, and its `oracle.toml`.

use super::classes::{self, Class};
use super::dice::Dice;
use super::effect::{Effect, What};
use super::failing;
use super::faults::{FailureKind, Flake, FlakeKind, Leak, shown};
use super::levels::{self, Levels};
use super::shape::{Kind, Shape};
use super::truth::{Made, TOLERANCE, Truth};
use crate::kit::{Oracle, Plan, TestEnvironment, graph};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct World {
    pub seed: u64,
    pub class: &'static Class,
    pub levels: Levels,
    pub shape: Shape,
    pub effects: Vec<Effect>,
    pub flake: Option<Flake>,
    pub leak: Option<Leak>,
    pub truth: Truth,
}

impl World {
    /// The world of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let class = classes::draw(&mut dice);
        loop {
            if let Some(world) = Self::attempt(seed, class, &mut dice) {
                return world;
            }
        }
    }

    /// One draw of a world; none if the draw does not fit the class.
    fn attempt(seed: u64, class: &'static Class, dice: &mut Dice) -> Option<Self> {
        let kind = dice.pick(class.shapes);
        let shape = Shape::at_random(kind, dice);
        let levels = dice.pick(class.levels);
        let mut effects = levels::effects(levels, &shape, dice)?;
        effects.extend(failing::effects(class.failing, &shape, dice)?);
        let flake = (!class.flakes.is_empty()).then(|| {
            let (kind, side) = (dice.pick(class.flakes), dice.pick(class.sides));
            Flake::at_random(kind, side, dice)
        });
        let leak = class.leak;
        let made = Made { shape: &shape, effects: &effects, flake, leak };
        let truth = made.truth();
        let ends = [shape.good, shape.bad].map(|end| made.level(end));
        let is_close = ((ends[1] - ends[0]) - TOLERANCE).abs() <= 5;
        let fails = |end: usize| made.failure(end).is_some();
        let fits = truth.expected == class.expected
            && !is_close
            && made.level(shape.good) > 0
            && !fails(shape.good)
            && fails(shape.bad) == class.fails_at_the_end();
        fits.then_some(Self { seed, class, levels, shape, effects, flake, leak, truth })
    }

    pub(crate) fn made(&self) -> Made<'_> {
        let Self { shape, effects, flake, leak, .. } = self;
        Made { shape, effects, flake: *flake, leak: *leak }
    }

    /// The history, for git.
    pub(crate) fn plan(&self) -> Plan {
        let commits: Vec<String> = self.shape.parents.iter().enumerate().map(commit).collect();
        let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
        let mut plan = graph(&commits);
        for (one, parents) in self.shape.parents.iter().enumerate() {
            for setting in self.settings(one) {
                plan = plan.with(one, &setting);
            }
            let before = parents.first().map(|parent| self.files(*parent)).unwrap_or_default();
            for (place, (name, text)) in self.files(one).into_iter().enumerate() {
                if before.get(place).is_none_or(|(_, old)| *old != text) {
                    plan = plan.file(one, format!("kernels/{name}.conf"), &text);
                }
            }
        }
        plan
    }

    /// The commit's own settings, outside the files of `kernels`.
    fn settings(&self, one: usize) -> Vec<String> {
        let made = self.made();
        let is_bad = made.is_bad(one);
        let levels = [self.shape.good, self.shape.bad].map(|end| made.level(end));
        let mut settings = Vec::new();
        if let Some(flake) = self.flake {
            settings.push(format!("seed = {}", self.seed >> 32));
            let is_end = one == self.shape.good || one == self.shape.bad;
            let is_drawn = !is_end && Dice::new(self.seed ^ one as u64).percent(50);
            settings.extend(flake.settings(is_bad, is_drawn, levels));
        }
        settings.extend(match self.leak {
            Some(Leak::Hidden) => {
                is_bad.then(|| "build_hides = kernels/hidden.conf ppl+hidden = 0.4".to_owned())
            }
            Some(Leak::Objects) => {
                let names: Vec<String> =
                    (0..self.effects.len()).map(|n| format!("{n:02}.conf")).collect();
                Some(format!("build_keeps = {}", names.join(" ")))
            }
            Some(Leak::Carried) => {
                let left = if is_bad { "0.4" } else { "0" };
                Some(format!("build_carries = state/left {left}"))
            }
            None => None,
        });
        settings
    }

    /// Names, without extension, and contents of the files in `kernels`.
    fn files(&self, one: usize) -> Vec<(String, String)> {
        let mut files = Vec::new();
        for (number, effect) in self.effects.iter().enumerate() {
            let content = effect.at(one);
            let name = format!("{number:02}");
            match &effect.what {
                What::Level => {
                    let counter = format!("ppl+{name}b = {}\n", shown(-content.countered));
                    files.push((name.clone(), format!("ppl+{name} = {}\n", shown(content.amount))));
                    files.push((format!("{name}b"), counter));
                }
                What::Failure(failure) if content.net() != 0 => {
                    files.push((name, failure.settings()));
                }
                What::Failure(_) => files.push((name.clone(), format!("part {name} is well\n"))),
            }
        }
        if self.leak == Some(Leak::Hidden) {
            files.push(("hidden".to_owned(), "ppl+hidden = 0\n".to_owned()));
        }
        files
    }

    pub(crate) fn oracle(&self, env: &TestEnvironment) -> Oracle {
        let oracle = Oracle::new(env);
        let oracle = match self.flake {
            Some(Flake { kind: FlakeKind::PassFail, .. }) => oracle
                .measure("code", "code", "parser = \"exit-code\"")
                .only_guard("metric = \"code\"\nmax = 0"),
            _ => oracle.only_guard("metric = \"ppl\"\nmax_increase = 0.1"),
        };
        let hangs = |effect: &Effect| matches!(&effect.what, What::Failure(failure) if failure.kind == FailureKind::Hang);
        // Long enough for a busy machine.
        let patience = if self.effects.iter().any(hangs) { "2s" } else { "60s" };
        let oracle = oracle.timeout(patience);
        match self.leak {
            Some(Leak::Objects) => oracle.build("mode = \"incremental\""),
            Some(Leak::Carried) => {
                let state = env.repo().join("state");
                std::fs::create_dir(&state).unwrap();
                std::fs::write(state.join("left"), "").unwrap();
                oracle.section("[worktree]\nlink = [\"state\"]")
            }
            _ => oracle,
        }
    }

    /// Prints the world for a replay.
    pub(crate) fn tell(&self) {
        let made = self.made();
        println!(
            "class {}, {:?}, {:?}, flake {:?}, leak {:?}",
            self.class.name, self.levels, self.shape.kind, self.flake, self.leak
        );
        println!("good {}, bad {}, {:?}", self.shape.good, self.shape.bad, self.truth);
        for (one, parents) in self.shape.parents.iter().enumerate() {
            let changed = self.files(one);
            let before = parents.first().map(|parent| self.files(*parent));
            let is_new =
                |file: &&(String, String)| before.as_ref().is_none_or(|b| !b.contains(file));
            let changed: Vec<&str> =
                changed.iter().filter(is_new).map(|(_, text)| text.trim()).collect();
            let failure = made.failure(one).map(|failure| format!("{:?}", failure.kind));
            let shows = failure.unwrap_or_else(|| shown(made.level(one)));
            println!("{one:4} < {parents:?}: {shows}  {}", changed.join("; "));
        }
    }
}

fn commit((one, parents): (usize, &Vec<usize>)) -> String {
    let parents: Vec<String> = parents.iter().map(usize::to_string).collect();
    format!("{one} < {}: g", parents.join(" "))
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Line => "lines",
            Self::Merges => "merges",
            Self::CrissCross => "criss-cross",
        }
    }
}
