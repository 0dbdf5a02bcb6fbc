//! Simulated engines: a history, a change in it, and runs with noise.

use bisect_ppl::search::{ChangeReach, Graph, MeasuredCommit};
use rand::RngExt;
use rand_distr::{Distribution, Exp, StandardNormal, StudentT};
use rand_pcg::Pcg64Mcg;

/// The distribution of runs around their commit's level, in standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// No noise.
    Exact,
    /// Normal.
    Normal,
    /// Student's t with 3 degrees of freedom, scaled to a standard deviation of 1.
    Heavy,
    /// Log-normal, skewed to the bad side, scaled to mean 0 and standard deviation 1.
    Skewed,
    /// Uniform.
    Flat,
    /// Two peaks, as if half of the runs land on slower cores.
    TwoHumps,
}

/// A model of noise, drift and commits that do not build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub shape: Shape,
    /// Share of runs that are disturbed, always to the bad side.
    pub outliers: f64,
    /// Mean size of a disturbance (exponential), in standard deviations.
    pub outlier_size: f64,
    /// Standard deviation of the machine's drift, an AR(1) process.
    pub drift: f64,
    /// Share of the drift that stays from one time step to the next.
    pub memory: f64,
    /// A linear trend, per time step.
    pub trend: f64,
    /// Share of commits that do not build.
    pub broken: f64,
    /// Share of commits whose own level is slightly off; the next commit is not affected.
    pub benign: f64,
    /// Whether machine drift may move the metric.
    pub is_speed: bool,
}

impl Family {
    pub(crate) const NORMAL: Self = Self {
        shape: Shape::Normal,
        outliers: 0.0,
        outlier_size: 10.0,
        drift: 0.0,
        memory: 0.0,
        trend: 0.0,
        broken: 0.0,
        benign: 0.0,
        is_speed: false,
    };
    pub(crate) const OUTLIERS: Self = Self { outliers: 0.02, ..Self::NORMAL };
    pub(crate) const EXACT: Self = Self { shape: Shape::Exact, ..Self::NORMAL };
    pub(crate) const EXACT_OUTLIERS: Self = Self { outliers: 0.02, ..Self::EXACT };
    /// Noise that no constant of the program was tuned for.
    pub(crate) const UNTUNED: [(&'static str, Self); 5] = [
        ("heavy tails", Self { shape: Shape::Heavy, ..Self::NORMAL }),
        ("flat", Self { shape: Shape::Flat, ..Self::NORMAL }),
        ("two humps", Self { shape: Shape::TwoHumps, ..Self::NORMAL }),
        ("5 % outliers", Self { outliers: 0.05, ..Self::NORMAL }),
        (
            "slow drift and a trend",
            Self { drift: 0.5, memory: 0.99, trend: 0.002, is_speed: true, ..Self::NORMAL },
        ),
    ];
    /// Skewed runs, a drifting machine, outliers, commits that do not build, benign changes.
    pub(crate) const SPEED: Self = Self {
        shape: Shape::Skewed,
        outliers: 0.02,
        drift: 0.7,
        memory: 0.97,
        broken: 0.05,
        benign: 0.1,
        is_speed: true,
        ..Self::NORMAL
    };
}

/// How the level changes along history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    /// One commit moves the level by this many standard deviations.
    Step(f64),
    /// The level does not change.
    None,
    /// Small equal steps: their number, and their sum in standard deviations of one run.
    Ramp(usize, f64),
}

/// What the search is told about the commits beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// Nothing: the prior is flat.
    None,
    /// The truth: the step is in a commit of each kind as often as the prior says.
    Right,
    /// Nothing useful: the prior favours some commits, and the step is in any commit alike.
    Useless,
    /// The opposite: the step is always in a commit that the prior disfavours.
    Wrong,
}

/// Shares of commits of each kind, as in a history where most commits change no code that runs.
const SHARES: [(ChangeReach, f64); 3] =
    [(ChangeReach::Code, 0.15), (ChangeReach::Open, 0.35), (ChangeReach::Idle, 0.5)];

/// What a run is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To learn the levels of both endpoints.
    Endpoints,
    /// To find a commit.
    Search,
    /// To confirm it.
    Confirmation,
}

/// Numbers of runs, by purpose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs {
    pub endpoints: usize,
    pub search: usize,
    pub confirmation: usize,
}

impl Runs {
    pub(crate) fn total(&self) -> usize {
        self.endpoints + self.search + self.confirmation
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.endpoints += more.endpoints;
        self.search += more.search;
        self.confirmation += more.confirmation;
    }
}

/// An engine's history and the machine it runs on.
pub(crate) struct World {
    pub graph: Graph,
    /// The commit that makes the step; `None` without a single step.
    pub culprit: Option<usize>,
    pub broken: Vec<bool>,
    /// The weight of each commit in the prior.
    pub prior: Vec<f64>,
    levels: Vec<f64>,
    family: Family,
    random: Pcg64Mcg,
    drift: f64,
    ticks: f64,
    last: Option<MeasuredCommit>,
    /// What the next runs are made for.
    pub purpose: Purpose,
    /// Runs made.
    pub runs: Runs,
    /// The first claim that was confirmed or rejected: one of these commits.
    pub first_claim: Option<Vec<usize>>,
    /// Builds made, the endpoints' included.
    pub builds: usize,
    built: Vec<bool>,
}

impl World {
    /// A history like `graph` with a change somewhere in it.
    pub(crate) fn new(graph: Graph, change: Change, family: Family, mut random: Pcg64Mcg) -> Self {
        let commits = graph.len();
        let tip = commits - 1;
        let culprit = match change {
            Change::Step(_) => Some(random.random_range(0..commits)),
            _ => None,
        };
        let mut steps = vec![0.0; commits];
        match change {
            Change::Step(size) => steps[culprit.expect("it was just drawn")] = size,
            Change::Ramp(count, size) => {
                for step in 0..count {
                    steps[(step * commits + commits / 2) / count] += size / count as f64;
                }
            }
            Change::None => {}
        }
        let mut levels = graph.contained(&steps);
        for level in &mut levels {
            if random.random::<f64>() < family.benign {
                let nudge: f64 = StandardNormal.sample(&mut random);
                *level += 0.1 * nudge;
            }
        }
        let mut broken: Vec<bool> =
            (0..commits).map(|_| random.random::<f64>() < family.broken).collect();
        broken[tip] = false;
        let built = vec![false; commits];
        Self {
            graph,
            culprit,
            broken,
            prior: vec![1.0; commits],
            levels,
            family,
            random,
            drift: 0.0,
            ticks: 0.0,
            last: None,
            purpose: Purpose::Search,
            runs: Runs::default(),
            first_claim: None,
            builds: 0,
            built,
        }
    }

    /// Draws what each commit changes, and takes the prior from that.
    pub(crate) fn hint(&mut self, hint: Hint) {
        if hint == Hint::None {
            return;
        }
        for commit in 0..self.graph.len() {
            let is_culprit = self.culprit == Some(commit);
            let weight = |reach: ChangeReach, share: f64| match hint {
                Hint::Right if is_culprit => share * reach.weight(),
                Hint::Wrong if is_culprit => f64::from(u8::from(reach == ChangeReach::Idle)),
                _ => share,
            };
            let weights = SHARES.map(|(reach, share)| weight(reach, share));
            let mut left = self.random.random::<f64>() * weights.iter().sum::<f64>();
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            self.prior[commit] = SHARES[drawn.unwrap_or(SHARES.len() - 1)].0.weight();
        }
    }

    /// Builds a commit; whether it builds.
    pub(crate) fn builds(&mut self, place: MeasuredCommit) -> bool {
        let MeasuredCommit::Commit(commit) = place else { return true };
        if !std::mem::replace(&mut self.built[commit], true) {
            self.builds += 1;
        }
        !self.broken[commit]
    }

    /// One run; larger is worse.
    pub(crate) fn run(&mut self, place: MeasuredCommit) -> f64 {
        *match self.purpose {
            Purpose::Endpoints => &mut self.runs.endpoints,
            Purpose::Search => &mut self.runs.search,
            Purpose::Confirmation => &mut self.runs.confirmation,
        } += 1;
        // Another commit costs a build, during which the machine goes on drifting.
        let ticks = if self.last == Some(place) { 1 } else { 3 };
        self.last = Some(place);
        for _ in 0..ticks {
            self.tick();
        }
        let level = match place {
            MeasuredCommit::Good => 0.0,
            MeasuredCommit::Commit(commit) => self.levels[commit],
        };
        level + self.stray() + self.drift + self.family.trend * self.ticks
    }

    fn tick(&mut self) {
        self.ticks += 1.0;
        let Family { drift, memory, .. } = self.family;
        if drift > 0.0 {
            let kick: f64 = StandardNormal.sample(&mut self.random);
            self.drift = memory * self.drift + (1.0 - memory * memory).sqrt() * drift * kick;
        }
    }

    fn stray(&mut self) -> f64 {
        let random = &mut self.random;
        let normal = |random: &mut Pcg64Mcg| -> f64 { StandardNormal.sample(random) };
        let stray = match self.family.shape {
            Shape::Exact => 0.0,
            Shape::Normal => normal(random),
            Shape::Heavy => {
                let t = StudentT::new(3.0).expect("3 is positive");
                let x: f64 = t.sample(random);
                x / 3.0_f64.sqrt()
            }
            Shape::Skewed => {
                let (variance, mean) = (0.25_f64, 0.125_f64.exp());
                let sd = ((variance.exp() - 1.0) * variance.exp()).sqrt();
                ((0.5 * normal(random)).exp() - mean) / sd
            }
            Shape::Flat => (random.random::<f64>() - 0.5) * 12.0_f64.sqrt(),
            Shape::TwoHumps => {
                let side = if random.random::<bool>() { 0.9 } else { -0.9 };
                side + normal(random) * (1.0_f64 - 0.81).sqrt()
            }
        };
        let is_disturbed = random.random::<f64>() < self.family.outliers;
        if is_disturbed {
            let size = Exp::new(1.0 / self.family.outlier_size).expect("a positive size");
            return stray + size.sample(random);
        }
        stray
    }
}

/// A random history with merges: branches fork and come back, some of them crossing.
pub(crate) fn merged(commits: usize, random: &mut Pcg64Mcg) -> Graph {
    let mut parents: Vec<Vec<usize>> = vec![Vec::new()];
    let mut tips = vec![0];
    while parents.len() < commits - 1 {
        let next = parents.len();
        let pick = random.random_range(0..tips.len());
        match random.random_range(0..10) {
            0 | 1 if tips.len() < 6 => {
                parents.push(vec![tips[pick]]);
                tips.push(next);
            }
            2 | 3 if tips.len() > 1 => {
                let other = tips.swap_remove(pick);
                let into = random.random_range(0..tips.len());
                parents.push(vec![tips[into], other]);
                tips[into] = next;
            }
            _ => {
                parents.push(vec![tips[pick]]);
                tips[pick] = next;
            }
        }
    }
    tips.sort_unstable();
    tips.dedup();
    parents.push(tips);
    Graph::new(&parents)
}
