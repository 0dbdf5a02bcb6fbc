//! The search in noise: a posterior over the first bad commit decides what to measure next. The
//! caller asks for advice, makes the runs, and reports the samples.

mod choice;
mod claims;
mod forecast;

use super::advice::{Advice, Candidate, EndReason, MeasuredCommit, Scale, Settings};
use super::belief::{Belief, Classes, largest_untestable_span};
use super::calibration::{self, Calibration, CalibrationSettings, calibrate, endpoint_order};
use super::evidence::Evidence;
use super::graph::Graph;
use super::likelihood::Likelihood;
use super::{CalibrationError, Drift, DriftPrior, Levels, Rates};

/// Share of the posterior that a candidate must hold before its confirmation.
const ENOUGH: f64 = 0.95;
/// If P(bad) is above this, or below 1 minus this, a commit's samples update its side's level.
const SURE: f64 = 0.95;
/// Maximum number of runs in total.
const MOST_RUNS: usize = 600;

/// The search over one range.
#[derive(Clone, Debug)]
pub struct Noisy<'a> {
    graph: &'a Graph,
    classes: Classes,
    untestable: Vec<bool>,
    price_of_build: f64,
    /// For each commit, the number of its stored runs; empty if no commit has any.
    stored: Vec<usize>,
    /// For each commit, whether its build is there already; empty if no commit has one.
    built: Vec<bool>,
    scale: Scale,
    /// The step that the calibration found.
    calibrated: f64,
    /// All samples that count, with their places.
    samples: Vec<(MeasuredCommit, f64)>,
    belief: Option<Belief>,
    drift: Option<Drift>,
    /// Samples of good and bad in the paired calibration after a drift, while it runs.
    recalibration: Option<(Vec<f64>, Vec<f64>)>,
    /// The advice that the caller has not answered yet.
    asked: Option<Advice>,
    /// The commit that was measured last: it is built already.
    current: Option<usize>,
    /// Whether the commit of the next pair runs before the good endpoint.
    is_commit_first: bool,
    runs: usize,
    rejected: usize,
    /// Whether the candidate in the lead was claimed after all commits had their maximum of runs.
    is_lead_claimed: bool,
    /// The last candidate that the search asked to confirm.
    candidate: Option<Candidate>,
    /// Why the search ended.
    ended: Option<EndReason>,
}

impl<'a> Noisy<'a> {
    /// A search over the graph; the graph's last commit is the bad endpoint.
    pub fn new(graph: &'a Graph, settings: Settings) -> Self {
        let Settings { prior, untestable, good, bad, scale, drift, price_of_build, stored, built } =
            settings;
        let runs = good.len() + bad.len();
        let is_paired = matches!(scale, Scale::Levels(Calibration { paired: true, .. }));
        let is_levels = matches!(scale, Scale::Levels(_));
        let mut search = Self {
            graph,
            classes: Classes::new(prior),
            untestable,
            price_of_build,
            stored,
            built,
            scale,
            calibrated: match scale {
                Scale::Levels(found) => found.levels.step(),
                Scale::Rates(rates) => rates.bad - rates.good,
            },
            samples: Vec::new(),
            belief: None,
            drift: (drift == DriftPrior::Likely && is_levels && !is_paired)
                .then(|| Drift::since(runs)),
            recalibration: None,
            asked: None,
            current: None,
            is_commit_first: false,
            runs,
            rejected: 0,
            is_lead_claimed: false,
            candidate: None,
            ended: None,
        };
        search.take_endpoints(&good, &bad, is_paired);
        search
    }

    /// The bad endpoint.
    fn tip(&self) -> usize {
        self.graph.len() - 1
    }

    fn take_endpoints(&mut self, good: &[f64], bad: &[f64], is_paired: bool) {
        let tip = MeasuredCommit::Commit(self.tip());
        let (good, bad) = calibration::finite(good, bad);
        if is_paired {
            self.samples.extend(good.iter().zip(&bad).map(|(g, b)| (tip, b - g)));
        } else {
            self.samples.extend(good.iter().map(|&x| (MeasuredCommit::Good, x)));
            self.samples.extend(bad.iter().map(|&x| (tip, x)));
        }
    }

    /// Whether samples are differences to the good endpoint.
    pub fn is_paired(&self) -> bool {
        matches!(self.scale, Scale::Levels(Calibration { paired: true, .. }))
    }

    /// The current levels; `None` for rates.
    pub fn levels(&self) -> Option<Levels> {
        match self.scale {
            Scale::Levels(found) => Some(found.levels),
            Scale::Rates(_) => None,
        }
    }

    /// The failure rates of a pass/fail metric; `None` for levels.
    pub(crate) fn rates(&self) -> Option<Rates> {
        match self.scale {
            Scale::Levels(_) => None,
            Scale::Rates(rates) => Some(rates),
        }
    }

    /// The step between the endpoints, on the oriented scale.
    pub fn calibrated_step(&self) -> f64 {
        self.calibrated
    }

    /// Runs so far, including those of the endpoints.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// The posterior at the last advice.
    pub fn belief(&self) -> Option<&Belief> {
        self.belief.as_ref()
    }

    /// All samples that count: place, and oriented value (a difference if paired).
    pub fn samples(&self) -> &[(MeasuredCommit, f64)] {
        &self.samples
    }

    /// The number of samples of a commit.
    fn samples_of(&self, commit: usize) -> usize {
        self.samples.iter().filter(|(place, _)| *place == MeasuredCommit::Commit(commit)).count()
    }

    /// What to do next. The advice stays the same until it is answered.
    pub fn advise(&mut self) -> Advice {
        if let Some(advice) = &self.asked {
            return advice.clone();
        }
        let advice = self.think();
        self.asked = Some(advice.clone());
        advice
    }

    fn think(&mut self) -> Advice {
        if let Some(answer) = &self.ended {
            return Advice::Stop(answer.clone());
        }
        if let Some((good, _)) = &self.recalibration {
            let places = endpoint_order(good.len()).map(|is_good| {
                if is_good { MeasuredCommit::Good } else { MeasuredCommit::Commit(self.tip()) }
            });
            return Advice::Measure(places.to_vec());
        }
        if self.runs >= if self.is_paired() { 2 * MOST_RUNS } else { MOST_RUNS } {
            return Advice::Stop(EndReason::OutOfRuns);
        }
        let Some(belief) = self.weigh() else { return Advice::Stop(EndReason::Unexplained) };
        self.refresh(&belief);
        let lead = largest_untestable_span(self.graph, &belief, &self.untestable);
        let central = self.most_open(&belief, |_| true);
        self.belief = Some(belief);
        if let Some(lead) = &lead
            && (lead.mass >= ENOUGH || central.is_none())
        {
            return match self.unmeasured(lead) {
                Some(commit) => self.measure(commit),
                None => self.claim(lead.clone()),
            };
        }
        let Some(commit) = self.choose(central) else { return self.claim_lead(lead) };
        if self.drift.is_some_and(|drift| drift.is_due(self.runs)) {
            return Advice::Measure(vec![MeasuredCommit::Good]);
        }
        self.measure(commit)
    }

    /// The posterior from all samples.
    fn weigh(&mut self) -> Option<Belief> {
        let likelihood = match self.scale {
            Scale::Levels(Calibration { levels, paired, runs }) => {
                let pinned = if paired { runs as f64 } else { 0.0 };
                Likelihood::Normal { levels, pinned }
            }
            Scale::Rates(_) => Likelihood::PassFail,
        };
        let mut good = Evidence::default();
        let mut measured: Vec<Evidence> = Vec::new();
        for &(place, x) in &self.samples {
            let x = likelihood.prepared(x);
            match place {
                MeasuredCommit::Good => good.add(x),
                MeasuredCommit::Commit(commit) => {
                    let place = self.classes.place(self.graph, commit);
                    measured.resize(measured.len().max(place + 1), Evidence::default());
                    measured[place].add(x);
                }
            }
        }
        self.classes.belief(self.graph, &likelihood, good, &measured)
    }

    /// Updates levels and noise from the commits with a clear side.
    fn refresh(&mut self, belief: &Belief) {
        let Scale::Levels(found) = &mut self.scale else { return };
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for &(place, x) in &self.samples {
            match place {
                MeasuredCommit::Good => good.push(x),
                MeasuredCommit::Commit(commit) if belief.bad[commit] < 1.0 - SURE => good.push(x),
                MeasuredCommit::Commit(commit) if belief.bad[commit] > SURE => bad.push(x),
                MeasuredCommit::Commit(_) => {}
            }
        }
        found.levels = found.levels.refreshed(&good, &bad, found.paired);
    }

    fn measure(&mut self, commit: usize) -> Advice {
        self.current = Some(commit);
        if !self.is_paired() {
            return Advice::Measure(vec![MeasuredCommit::Commit(commit)]);
        }
        let mut places = vec![MeasuredCommit::Good, MeasuredCommit::Commit(commit)];
        if self.is_commit_first {
            places.reverse();
        }
        Advice::Measure(places)
    }

    /// Takes the requested samples, in that order. A sample that is not finite counts only as a
    /// run.
    ///
    /// # Panics
    /// If the number of samples differs from the advice.
    pub fn add_samples(&mut self, samples: &[f64]) {
        let asked = match self.asked.take() {
            Some(Advice::Measure(places)) => places,
            _ => Vec::new(),
        };
        assert_eq!(samples.len(), asked.len(), "as many samples as were asked for");
        self.runs += samples.len();
        let of = |wanted: fn(&MeasuredCommit) -> bool| {
            asked.iter().position(wanted).map(|position| samples[position])
        };
        let good = of(|place| *place == MeasuredCommit::Good);
        let other = of(|place| *place != MeasuredCommit::Good);
        if self.recalibration.is_some() {
            return self.add_recalibration_pair(good, other);
        }
        match (good, other, asked.iter().find(|place| **place != MeasuredCommit::Good)) {
            (Some(good), Some(x), Some(&place)) => {
                self.is_commit_first = !self.is_commit_first;
                self.take(place, x - good);
            }
            (None, Some(x), Some(&place)) => self.take(place, x),
            (Some(x), ..) => self.check_drift(x),
            _ => {}
        }
    }

    fn take(&mut self, place: MeasuredCommit, x: f64) {
        if x.is_finite() {
            self.samples.push((place, x));
        }
    }

    /// Checks a new run of the good endpoint for machine drift.
    fn check_drift(&mut self, x: f64) {
        if !x.is_finite() {
            return;
        }
        self.samples.push((MeasuredCommit::Good, x));
        let Scale::Levels(found) = self.scale else { return };
        let runs = self.runs;
        if self.drift.as_mut().is_some_and(|drift| drift.look(x, &found.levels, runs)) {
            // Samples from before and after a drift cannot be compared. From now on, runs are
            // paired.
            self.samples.clear();
            self.drift = None;
            self.current = None;
            self.recalibration = Some((Vec::new(), Vec::new()));
        }
    }

    /// Takes a pair of the calibration that follows a drift.
    fn add_recalibration_pair(&mut self, good: Option<f64>, bad: Option<f64>) {
        let Some((goods, bads)) = &mut self.recalibration else { return };
        goods.extend(good);
        bads.extend(bad);
        let rule = CalibrationSettings { tolerance: 0.0, drift: DriftPrior::Likely, paired: true };
        match calibrate(goods, bads, rule) {
            Ok(found) => {
                self.scale = Scale::Levels(found);
                self.calibrated = found.levels.step();
                let (goods, bads) = self.recalibration.take().expect("it is under way");
                self.take_endpoints(&goods, &bads, true);
            }
            Err(CalibrationError::More) => {}
            Err(_) => {
                self.recalibration = None;
                self.ended = Some(EndReason::Drifted);
            }
        }
    }

    /// Reports that the requested commit cannot be measured.
    pub fn untestable(&mut self, commit: usize) {
        self.asked = None;
        self.untestable[commit] = true;
        self.current = None;
    }
}

#[cfg(test)]
mod tests;
