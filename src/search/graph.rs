//! A range of history as a graph of small numbers.

/// The commits of a range, oldest first, no commit before its parents: commit i's parents are
/// smaller than i. Parents outside the range are on the good side and do not occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where each commit's parents begin in `parents`, and one more.
    starts: Vec<u32>,
    parents: Vec<u32>,
}

/// A commit and what it descends from, as a set of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestors(Vec<u64>);

impl Ancestors {
    /// Whether the commit is among them.
    pub fn contains(&self, commit: usize) -> bool {
        self.0[commit / 64] >> (commit % 64) & 1 == 1
    }

    fn insert(&mut self, commit: usize) {
        self.0[commit / 64] |= 1 << (commit % 64);
    }
}

impl Graph {
    /// A graph from each commit's parents.
    ///
    /// # Panics
    /// When a parent does not come before its child.
    pub fn new<P: AsRef<[usize]>>(parents: &[P]) -> Self {
        let mut graph = Self { starts: vec![0], parents: Vec::new() };
        for (commit, parents) in parents.iter().enumerate() {
            let from = graph.parents.len();
            for &parent in parents.as_ref() {
                assert!(parent < commit, "{parent} is a parent of {commit}, which comes before it");
                // Some histories name one parent twice.
                if !graph.parents[from..].contains(&small(parent)) {
                    graph.parents.push(small(parent));
                }
            }
            graph.starts.push(small(graph.parents.len()));
        }
        graph
    }

    /// A history without merges, of `commits` commits.
    pub fn line(commits: usize) -> Self {
        let parents: Vec<Vec<usize>> =
            (0..commits).map(|i| i.checked_sub(1).into_iter().collect()).collect();
        Self::new(&parents)
    }

    /// How many commits it has.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A commit's parents within the range.
    pub fn parents(&self, commit: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.slice(commit).iter().map(|&parent| parent as usize)
    }

    fn slice(&self, commit: usize) -> &[u32] {
        &self.parents[self.starts[commit] as usize..self.starts[commit + 1] as usize]
    }

    /// The commit and all it descends from within the range.
    pub fn ancestors(&self, commit: usize) -> Ancestors {
        let mut found = Ancestors(vec![0; self.len().div_ceil(64)]);
        found.insert(commit);
        // Parents are smaller than their children, so one sweep downwards meets each in time.
        for one in (0..=commit).rev() {
            if found.contains(one) {
                for parent in self.parents(one) {
                    found.insert(parent);
                }
            }
        }
        found
    }

    /// For each commit the weight of all commits it contains, itself included.
    ///
    /// What several parents share counts once. Along a line that is a running sum; for merges
    /// the weighty commits go through the graph 64 at a time, as one word a commit, so that
    /// memory stays O(N) where the sets of all ancestors would take O(N²). A block goes on only
    /// until every branch that is still open contains all of it, so that time is O(N²) only for
    /// branches that stay apart.
    pub fn contained(&self, weights: &[f64]) -> Vec<f64> {
        let is_merge = |commit: usize| self.slice(commit).len() > 1;
        let mut merged = vec![0.0; self.len()];
        if (0..self.len()).any(is_merge) {
            let heavy: Vec<usize> = (0..self.len()).filter(|&i| weights[i] > 0.0).collect();
            let mut sweep = Sweep::over(self);
            for block in heavy.chunks(64) {
                sweep.add(block, weights);
            }
            merged = sweep.finish();
        }
        let mut sums = vec![0.0; self.len()];
        for commit in 0..self.len() {
            sums[commit] = match self.slice(commit) {
                [] => weights[commit],
                [parent] => sums[*parent as usize] + weights[commit],
                _ => merged[commit],
            };
        }
        sums
    }
}

/// Blocks of commits on their way through a graph, as what each merge contains of them.
struct Sweep<'a> {
    graph: &'a Graph,
    /// Each commit's last child; itself where it has none.
    last_child: Vec<u32>,
    /// For each commit, how many before it have it or a later one as a child: open branches.
    open: Vec<u32>,
    roots: Vec<usize>,
    /// Of the block under way: what each commit contains.
    words: Vec<u64>,
    /// What each merge contains.
    sums: Vec<f64>,
    /// What all merges from here on contain more than those before, or less.
    gained: Vec<f64>,
}

impl<'a> Sweep<'a> {
    fn over(graph: &'a Graph) -> Self {
        let commits = graph.len();
        let mut last_child: Vec<u32> = (0..commits).map(small).collect();
        for commit in 0..commits {
            for parent in graph.parents(commit) {
                last_child[parent] = small(commit);
            }
        }
        let mut closing = vec![0; commits];
        let mut open = vec![0; commits];
        let mut now = 0;
        for commit in 0..commits {
            open[commit] = now;
            now -= closing[commit];
            let last = last_child[commit] as usize;
            if last > commit {
                closing[last] += 1;
                now += 1;
            }
        }
        let roots = (0..commits).filter(|&commit| graph.slice(commit).is_empty()).collect();
        Self {
            graph,
            last_child,
            open,
            roots,
            words: vec![0; commits],
            sums: vec![0.0; commits],
            gained: vec![0.0; commits],
        }
    }

    /// Adds to each merge the weight of those commits of the block that it contains.
    fn add(&mut self, block: &[usize], weights: &[f64]) {
        let (Some(&first), Some(&last)) = (block.first(), block.last()) else { return };
        let weigh = Weighing::of(block, weights);
        let full = u64::MAX >> (64 - block.len());
        let mut bits = block.iter().enumerate().peekable();
        // Open branches that do not contain the whole block.
        let mut lacking = self.open[first];
        let mut commit = first;
        while commit < self.graph.len() {
            let mut word = 0;
            for parent in self.graph.parents(commit) {
                let inherited = if parent < first { 0 } else { self.words[parent] };
                word |= inherited;
                let is_closed = self.last_child[parent] as usize == commit;
                lacking -= u32::from(is_closed && inherited != full);
            }
            if let Some((bit, _)) = bits.next_if(|(_, heavy)| **heavy == commit) {
                word |= 1 << bit;
            }
            self.words[commit] = word;
            lacking += u32::from(self.last_child[commit] as usize > commit && word != full);
            if word != 0 && self.graph.slice(commit).len() > 1 {
                self.sums[commit] += weigh.sum(word);
            }
            commit += 1;
            if lacking == 0 && commit > last {
                commit = self.skip(commit, full, weigh.sum(full));
            }
        }
    }

    /// From here to the next root every commit contains the whole block; where that root is.
    fn skip(&mut self, from: usize, full: u64, weight: f64) -> usize {
        let Some(gained) = self.gained.get_mut(from) else { return from };
        *gained += weight;
        let Some(&root) = self.roots.get(self.roots.partition_point(|root| *root < from)) else {
            return self.graph.len();
        };
        self.gained[root] -= weight;
        self.words[from..root].fill(full);
        root
    }

    fn finish(mut self) -> Vec<f64> {
        let mut gained = 0.0;
        for (sum, more) in self.sums.iter_mut().zip(&self.gained) {
            gained += more;
            *sum += gained;
        }
        self.sums
    }
}

/// The sum of the weights of a word's bits, without looking at each.
enum Weighing {
    /// All weigh the same.
    Alike(f64),
    /// For each byte of the word, the sum of each of its 256 values.
    Tables(Box<[[f64; 256]; 8]>),
}

impl Weighing {
    fn of(block: &[usize], weights: &[f64]) -> Self {
        let first = weights[block[0]];
        if block.iter().all(|&commit| weights[commit].to_bits() == first.to_bits()) {
            return Self::Alike(first);
        }
        let mut tables = Box::new([[0.0; 256]; 8]);
        for (byte, table) in tables.iter_mut().enumerate() {
            for value in 1..256_usize {
                let bit = value.trailing_zeros() as usize;
                let weight = block.get(8 * byte + bit).map_or(0.0, |&commit| weights[commit]);
                table[value] = table[value & (value - 1)] + weight;
            }
        }
        Self::Tables(tables)
    }

    fn sum(&self, word: u64) -> f64 {
        match self {
            Self::Alike(weight) => *weight * f64::from(word.count_ones()),
            Self::Tables(tables) => {
                word.to_le_bytes().iter().zip(tables.iter()).map(|(b, t)| t[usize::from(*b)]).sum()
            }
        }
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a history has fewer than four billion commits")
}

#[cfg(test)]
mod tests;
