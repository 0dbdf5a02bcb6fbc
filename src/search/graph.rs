//! A range of history as a graph of commit indices.

/// The commits of a range as indices, oldest first: a commit's parents have smaller indices.
/// Parents outside the range are on the good side and are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Index of each commit's first parent in `parents`, then the length of `parents`.
    starts: Vec<u32>,
    parents: Vec<u32>,
}

/// A commit and its ancestors, as a bit set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestors(Vec<u64>);

impl Ancestors {
    /// Whether the set contains the commit.
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
    /// If a parent does not come before its child.
    pub fn new<P: AsRef<[usize]>>(parents: &[P]) -> Self {
        let mut graph = Self { starts: vec![0], parents: Vec::new() };
        for (commit, parents) in parents.iter().enumerate() {
            let from = graph.parents.len();
            for &parent in parents.as_ref() {
                assert!(parent < commit, "{parent} is a parent of {commit}, which comes before it");
                // In some histories a commit names one parent twice.
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

    /// The number of commits.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no commits.
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

    /// The commit and all its ancestors within the range.
    pub fn ancestors(&self, commit: usize) -> Ancestors {
        let mut found = Ancestors(vec![0; self.len().div_ceil(64)]);
        found.insert(commit);
        // Parents have smaller indices, so one downward pass visits each after all its children.
        for one in (0..=commit).rev() {
            if found.contains(one) {
                for parent in self.parents(one) {
                    found.insert(parent);
                }
            }
        }
        found
    }

    /// For each commit, the total weight of the commit and its ancestors.
    ///
    /// Shared ancestors count once. Along a line this is a running sum. For merges, commits with
    /// weight are propagated in blocks of 64, as one word per commit. Memory is therefore O(N),
    /// where the sets of all ancestors would take O(N²). A block stops once every open branch
    /// contains all of the block, so time is O(N²) only for branches that stay separate.
    pub fn contained(&self, weights: &[f64]) -> Vec<f64> {
        let is_merge = |commit: usize| self.slice(commit).len() > 1;
        let mut merged = vec![0.0; self.len()];
        if (0..self.len()).any(is_merge) {
            let heavy: Vec<usize> = (0..self.len()).filter(|&i| weights[i] > 0.0).collect();
            let mut propagation = Propagation::over(self);
            for block in heavy.chunks(64) {
                propagation.add(block, weights);
            }
            merged = propagation.finish();
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

/// Propagates blocks of commits through a graph, and sums what each merge contains.
struct Propagation<'a> {
    graph: &'a Graph,
    /// Each commit's last child; the commit itself if it has none.
    last_child: Vec<u32>,
    /// Open branches at each commit: earlier commits whose last child is this commit or later.
    open: Vec<u32>,
    roots: Vec<usize>,
    /// Which commits of the current block each commit contains.
    words: Vec<u64>,
    /// The weight that each merge contains.
    sums: Vec<f64>,
    /// Differences of a running sum: weight that all merges from here on gain or lose.
    gained: Vec<f64>,
}

impl<'a> Propagation<'a> {
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

    /// Adds to each merge the weight of the block's commits that the merge contains.
    fn add(&mut self, block: &[usize], weights: &[f64]) {
        let (Some(&first), Some(&last)) = (block.first(), block.last()) else { return };
        let weigh = Weighing::of(block, weights);
        let full = u64::MAX >> (64 - block.len());
        let mut bits = block.iter().enumerate().peekable();
        // The number of open branches that do not contain the whole block.
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

    /// Skips to the next root and returns it: every commit before that root contains the whole
    /// block.
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

/// Sums the weights of a word's bits without a loop over the bits.
enum Weighing {
    /// All weights are equal.
    Alike(f64),
    /// For each byte of the word, the sums of its 256 possible values.
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
