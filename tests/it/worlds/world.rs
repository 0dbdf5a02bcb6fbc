//! A world: a history, effects of its commits, failures, flakes, leaks, and its `oracle.toml`.

use std::collections::BTreeMap;

use super::classes::{self, Class};
use super::dice::Dice;
use super::effect::{Effect, What};
use super::failing;
use super::faults::{FailureKind, Flake, FlakeKind, Leak, shown};
use super::layout::Layout;
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
    pub layout: Layout,
    /// Whether the hunt also looks for the cause inside the commit, as hunts do by default.
    pub localizes: bool,
    pub truth: Truth,
}

/// How often a hunt looks for the cause inside the commit, in percent.
const LOCALIZES: usize = 50;

impl World {
    /// The world of a seed. One in fourteen has noise.
    pub(crate) fn of(seed: u64) -> Self {
        // `!seed`, because the numbers of `seed` already drew the class.
        let mut further = classes::further(!seed);
        Self::drawn(seed, classes::of(seed), Some(&mut further))
    }

    /// The same without noise, with a file for each effect, and hunted without localisation.
    pub(crate) fn plain(seed: u64) -> Self {
        Self::drawn(seed, classes::draw(&mut Dice::new(seed)), None)
    }

    fn drawn(seed: u64, class: &'static Class, mut further: Option<&mut Dice>) -> Self {
        let mut dice = Dice::new(seed);
        // Skips the numbers that drew the plain class, so that the rest stays the same.
        classes::draw(&mut dice);
        loop {
            if let Some(world) = Self::attempt(seed, class, &mut dice, further.as_deref_mut()) {
                return world;
            }
        }
    }

    /// One draw of a world; none if the draw does not fit the class.
    fn attempt(
        seed: u64,
        class: &'static Class,
        dice: &mut Dice,
        further: Option<&mut Dice>,
    ) -> Option<Self> {
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
        // Noise makes a difference of about the tolerance undecidable.
        let close = flake.map_or(0, |flake| 2 * flake.noise()).max(5);
        let is_close = ((ends[1] - ends[0]) - TOLERANCE).abs() <= close;
        let fails = |end: usize| made.failure(end).is_some();
        let fits = truth.expected == class.expected
            && !is_close
            && made.level(shape.good) > 0
            && !fails(shape.good)
            && fails(shape.bad) == class.fails_at_the_end();
        let (mut layout, mut localizes) = (Layout::Apart, false);
        if let Some(further) = further {
            localizes = further.percent(LOCALIZES);
            // Worlds with leaks name files of `Layout::Apart` in `settings`.
            if leak.is_none() {
                layout = Layout::at_random(&shape, further);
            }
        }
        fits.then_some(Self {
            seed,
            class,
            levels,
            shape,
            effects,
            flake,
            leak,
            layout,
            localizes,
            truth,
        })
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
            let files = self.files(one);
            for (name, text) in &files {
                if before.get(name) != Some(text) {
                    plan = plan.file(one, format!("kernels/{name}.conf"), text);
                }
            }
            for name in before.keys().filter(|name| !files.contains_key(*name)) {
                plan = plan.without(one, &format!("kernels/{name}.conf"));
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
    fn files(&self, one: usize) -> BTreeMap<String, String> {
        let files = self.layout.files(&self.shape, &self.effects, one);
        let mut files: BTreeMap<String, String> = files.into_iter().collect();
        if self.leak == Some(Leak::Hidden) {
            files.insert("hidden".to_owned(), "ppl+hidden = 0\n".to_owned());
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
            "class {}, {:?}, {:?}, flake {:?}, leak {:?}, {:?}, localizes {}",
            self.class.name,
            self.levels,
            self.shape.kind,
            self.flake,
            self.leak,
            self.layout,
            self.localizes
        );
        println!("good {}, bad {}, {:?}", self.shape.good, self.shape.bad, self.truth);
        for (one, parents) in self.shape.parents.iter().enumerate() {
            let files = self.files(one);
            let before = parents.first().map(|parent| self.files(*parent)).unwrap_or_default();
            let is_new = |(name, text): &(&String, &String)| before.get(*name) != Some(*text);
            let changed: Vec<String> = files
                .iter()
                .filter(is_new)
                .map(|(name, text)| format!("{name}: {}", text.trim().replace('\n', ", ")))
                .collect();
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
