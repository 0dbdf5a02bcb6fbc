//! Prints the table of faults by kind, and the cases that failed.

use std::collections::BTreeMap;

use super::case::{Case, Course};

#[derive(Clone, Debug, Default)]
struct Row {
    cases: usize,
    impossible: usize,
    struck: usize,
    stops: usize,
    repeated: usize,
    failed: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Table(BTreeMap<&'static str, Row>);

impl Table {
    pub(crate) fn add(&mut self, case: &Case, course: &Course) {
        let row = self.0.entry(case.kind.name()).or_default();
        row.cases += 1;
        row.impossible += usize::from(course.is_impossible);
        row.struck += course.struck;
        row.stops += course.stops;
        row.repeated += course.repeated;
        row.failed += usize::from(!course.problems.is_empty());
    }

    /// Prints a row for each kind: hunts, those that this machine cannot make, faults that hit,
    /// drivers that had to be resumed, repeated runs, and hunts that broke a promise.
    pub(crate) fn print(&self) {
        let head = ["hunts", "skipped", "faults", "stops", "repeated", "failed"];
        println!("{:30}{}", "", head.map(|word| format!("{word:>9}")).concat());
        let mut all = Row::default();
        for (name, row) in &self.0 {
            println!("{name:30}{}", row.text());
            all.join(row);
        }
        println!("{:30}{}", "all", all.text());
    }

    pub(crate) fn failed(&self) -> usize {
        self.0.values().map(|row| row.failed).sum()
    }

    pub(crate) fn struck(&self) -> usize {
        self.0.values().map(|row| row.struck).sum()
    }
}

impl Row {
    fn join(&mut self, other: &Self) {
        self.cases += other.cases;
        self.impossible += other.impossible;
        self.struck += other.struck;
        self.stops += other.stops;
        self.repeated += other.repeated;
        self.failed += other.failed;
    }

    fn text(&self) -> String {
        let counts =
            [self.cases, self.impossible, self.struck, self.stops, self.repeated, self.failed];
        counts.map(|count| format!("{count:>9}")).concat()
    }
}
