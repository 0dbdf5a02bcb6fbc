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
            for &parent in parents.as_ref() {
                assert!(parent < commit, "{parent} is a parent of {commit}, which comes before it");
                graph.parents.push(small(parent));
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
    /// memory stays O(N) where the sets of all ancestors would take O(N²).
    pub fn contained(&self, weights: &[f64]) -> Vec<f64> {
        let is_merge = |commit: usize| self.slice(commit).len() > 1;
        let mut merged = vec![0.0; self.len()];
        if (0..self.len()).any(is_merge) {
            let heavy: Vec<usize> = (0..self.len()).filter(|&i| weights[i] > 0.0).collect();
            let mut words = vec![0_u64; self.len()];
            for block in heavy.chunks(64) {
                self.add_block(block, weights, &mut words, &mut merged);
            }
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

    /// Adds to each merge the weight of those commits of the block that it contains.
    fn add_block(&self, block: &[usize], weights: &[f64], words: &mut [u64], sums: &mut [f64]) {
        let Some(&first) = block.first() else { return };
        let weigh = Weighing::of(block, weights);
        let mut bits = block.iter().enumerate().peekable();
        for commit in first..self.len() {
            let parents = self.slice(commit);
            let inherit = |parent: &u32| {
                let parent = *parent as usize;
                if parent < first { 0 } else { words[parent] }
            };
            let mut word = parents.iter().map(inherit).fold(0, |all, one| all | one);
            if let Some((bit, _)) = bits.next_if(|(_, heavy)| **heavy == commit) {
                word |= 1 << bit;
            }
            words[commit] = word;
            if parents.len() > 1 && word != 0 {
                sums[commit] += weigh.sum(word);
            }
        }
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
