//! Minimum-cost perfect matchings in complete graphs.
//!
//! Edmonds' primal-dual algorithm with blossoms, in O(n³), as in Z. Galil, "Efficient Algorithms for Finding Maximum
//! Matching in Graphs", ACM Computing Surveys 18 (1986), 23-38. Costs are integers, so that the optimum is exact and
//! the same on every machine. The only maintained crate with a weighted matching (rustworkx-core) would add a thread
//! pool and forty crates to a library that search bots link.

use std::collections::VecDeque;

/// No vertex.
const NONE: usize = usize::MAX;

/// The label of a vertex or blossom in the search forest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Free,
    Outer,
    Inner,
}

/// Returns the partner of each vertex in a matching of minimum total cost. `cost` is symmetric and below `limit`,
/// which is at most 2^112.
///
/// # Panics
/// If the number of vertices is odd.
pub(crate) fn cheapest(vertices: usize, limit: i128, cost: impl Fn(usize, usize) -> i128) -> Vec<usize> {
    assert!(vertices.is_multiple_of(2), "an odd number of vertices has no perfect matching");
    // Large enough that an additional pair outweighs any saving.
    let worth = limit * (vertices as i128 / 2 + 1);
    let mut search = Search::new(vertices, |a, b| worth - cost(a, b));
    while search.augment() {}
    search.mate.truncate(vertices);
    search.mate
}

/// The search for a matching. Vertices are 0 to n - 1; blossoms get the numbers from n on.
struct Search {
    n: usize,
    /// The highest index in use, plus one.
    used: usize,
    /// By pair of vertices or blossoms: the end points of the best edge between them.
    edge: Vec<(usize, usize)>,
    /// By pair of vertices.
    weight: Vec<i128>,
    /// By pair of vertices or blossoms: whether `edge` is valid.
    has_edge: Vec<bool>,
    dual: Vec<i128>,
    /// The vertex at the other end.
    mate: Vec<usize>,
    /// The outer vertex whose edge to this one has the least slack.
    slack: Vec<usize>,
    /// The outermost blossom.
    top: Vec<usize>,
    /// The vertex from which this one was reached.
    parent: Vec<usize>,
    label: Vec<Label>,
    /// By blossom: its children, from its base around the cycle.
    cycle: Vec<Vec<usize>>,
    /// By blossom and vertex: the child that the vertex is in.
    child: Vec<usize>,
    queue: VecDeque<usize>,
}

impl Search {
    fn new(n: usize, weight: impl Fn(usize, usize) -> i128) -> Search {
        let size = n + n / 2 + 1;
        let mut weights = vec![0; n * n];
        let mut edge = vec![(NONE, NONE); size * size];
        let mut has_edge = vec![false; size * size];
        let mut greatest = 0;
        for a in 0..n {
            for b in (0..n).filter(|&b| b != a) {
                weights[a * n + b] = 2 * weight(a, b);
                edge[a * size + b] = (a, b);
                has_edge[a * size + b] = true;
                greatest = greatest.max(weights[a * n + b]);
            }
        }
        let mut child = vec![NONE; size * n];
        for a in 0..n {
            child[a * n + a] = a;
        }
        let mut dual = vec![0; size];
        dual[..n].fill(greatest / 2);
        Search {
            n,
            used: n,
            edge,
            weight: weights,
            has_edge,
            dual,
            mate: vec![NONE; size],
            slack: vec![NONE; size],
            top: (0..size).map(|x| if x < n { x } else { NONE }).collect(),
            parent: vec![NONE; size],
            label: vec![Label::Free; size],
            cycle: vec![Vec::new(); size],
            child,
            queue: VecDeque::new(),
        }
    }

    fn size(&self) -> usize {
        self.top.len()
    }

    fn edge(&self, a: usize, b: usize) -> (usize, usize) {
        self.edge[a * self.size() + b]
    }

    /// The slack of the best edge between two.
    fn distance(&self, a: usize, b: usize) -> i128 {
        let (from, to) = self.edge(a, b);
        self.dual[from] + self.dual[to] - self.weight[from * self.n + to]
    }

    fn consider_slack(&mut self, outer: usize, x: usize) {
        if self.slack[x] == NONE || self.distance(outer, x) < self.distance(self.slack[x], x) {
            self.slack[x] = outer;
        }
    }

    fn reset_slack(&mut self, x: usize) {
        self.slack[x] = NONE;
        for u in 0..self.n {
            if self.has_edge[u * self.size() + x]
                && self.top[u] != x
                && self.label[self.top[u]] == Label::Outer
            {
                self.consider_slack(u, x);
            }
        }
    }

    fn enqueue(&mut self, x: usize) {
        if x < self.n {
            self.queue.push_back(x);
        } else {
            for child in self.cycle[x].clone() {
                self.enqueue(child);
            }
        }
    }

    fn set_top(&mut self, x: usize, top: usize) {
        self.top[x] = top;
        if x >= self.n {
            for child in self.cycle[x].clone() {
                self.set_top(child, top);
            }
        }
    }

    /// The position of a child on the even path from the base; reverses the cycle if necessary.
    fn position(&mut self, blossom: usize, child: usize) -> usize {
        let at = self.cycle[blossom].iter().position(|&x| x == child).unwrap_or(0);
        if at.is_multiple_of(2) {
            return at;
        }
        self.cycle[blossom][1..].reverse();
        self.cycle[blossom].len() - at
    }

    fn set_mate(&mut self, a: usize, b: usize) {
        let (from, to) = self.edge(a, b);
        self.mate[a] = to;
        if a >= self.n {
            let child = self.child[a * self.n + from];
            let at = self.position(a, child);
            for i in 0..at {
                self.set_mate(self.cycle[a][i], self.cycle[a][i ^ 1]);
            }
            self.set_mate(child, b);
            self.cycle[a].rotate_left(at);
        }
    }

    /// Augments the matching along the path to the root.
    fn flip(&mut self, mut a: usize, mut b: usize) {
        loop {
            let next = self.mate[a];
            self.set_mate(a, b);
            if next == NONE {
                return;
            }
            let next = self.top[next];
            let above = self.top[self.parent[next]];
            self.set_mate(next, above);
            (a, b) = (above, next);
        }
    }

    /// The lowest common ancestor of two outer nodes in the search forest.
    fn meeting(&self, mut a: usize, mut b: usize) -> Option<usize> {
        let mut seen = vec![false; self.size()];
        let up = |x: usize| match self.mate[x] {
            NONE => NONE,
            mate => self.top[self.parent[self.top[mate]]],
        };
        while a != NONE || b != NONE {
            if a != NONE {
                if seen[a] {
                    return Some(a);
                }
                seen[a] = true;
                a = up(a);
            }
            std::mem::swap(&mut a, &mut b);
        }
        None
    }

    fn shrink(&mut self, a: usize, base: usize, b: usize) {
        let blossom = (self.n..self.used).find(|&x| self.top[x] == NONE).unwrap_or(self.used);
        self.used = self.used.max(blossom + 1);
        self.dual[blossom] = 0;
        self.label[blossom] = Label::Outer;
        self.mate[blossom] = self.mate[base];
        let mut cycle = vec![base];
        for (at, start) in [a, b].into_iter().enumerate() {
            let mut x = start;
            while x != base {
                cycle.push(x);
                let inner = self.top[self.mate[x]];
                cycle.push(inner);
                self.enqueue(inner);
                x = self.top[self.parent[inner]];
            }
            if at == 0 {
                cycle[1..].reverse();
            }
        }
        self.cycle[blossom] = cycle;
        self.set_top(blossom, blossom);
        let size = self.size();
        for x in 0..self.used {
            self.has_edge[blossom * size + x] = false;
            self.has_edge[x * size + blossom] = false;
        }
        self.child[blossom * self.n..(blossom + 1) * self.n].fill(NONE);
        for child in self.cycle[blossom].clone() {
            for x in 0..self.used {
                let is_better = self.has_edge[child * size + x]
                    && (!self.has_edge[blossom * size + x]
                        || self.distance(child, x) < self.distance(blossom, x));
                if is_better {
                    for (to, from) in
                        [(blossom * size + x, child * size + x), (x * size + blossom, x * size + child)]
                    {
                        self.edge[to] = self.edge[from];
                        self.has_edge[to] = true;
                    }
                }
            }
            for x in 0..self.n {
                if self.child[child * self.n + x] != NONE {
                    self.child[blossom * self.n + x] = child;
                }
            }
        }
        self.reset_slack(blossom);
    }

    fn expand(&mut self, blossom: usize) {
        for child in self.cycle[blossom].clone() {
            self.set_top(child, child);
        }
        let (from, _) = self.edge(blossom, self.parent[blossom]);
        let entered = self.child[blossom * self.n + from];
        let at = self.position(blossom, entered);
        let cycle = std::mem::take(&mut self.cycle[blossom]);
        for pair in cycle[..at].chunks_exact(2) {
            let (inner, outer) = (pair[0], pair[1]);
            self.parent[inner] = self.edge(outer, inner).0;
            self.label[inner] = Label::Inner;
            self.label[outer] = Label::Outer;
            self.slack[inner] = NONE;
            self.reset_slack(outer);
            self.enqueue(outer);
        }
        self.label[entered] = Label::Inner;
        self.parent[entered] = self.parent[blossom];
        for &x in &cycle[at + 1..] {
            self.label[x] = Label::Free;
            self.reset_slack(x);
        }
        self.top[blossom] = NONE;
    }

    /// Handles a tight edge from an outer vertex. Returns whether the matching has grown.
    fn grow(&mut self, from: usize, to: usize) -> bool {
        let (a, b) = (self.top[from], self.top[to]);
        match self.label[b] {
            Label::Free => {
                self.parent[b] = from;
                self.label[b] = Label::Inner;
                let next = self.top[self.mate[b]];
                self.slack[b] = NONE;
                self.slack[next] = NONE;
                self.label[next] = Label::Outer;
                self.enqueue(next);
            }
            Label::Outer => match self.meeting(a, b) {
                None => {
                    self.flip(a, b);
                    self.flip(b, a);
                    return true;
                }
                Some(base) => self.shrink(a, base, b),
            },
            Label::Inner => {}
        }
        false
    }

    fn tops(&self) -> impl Iterator<Item = usize> {
        (0..self.used).filter(|&x| self.top[x] == x)
    }

    /// Adds one pair to the matching. Returns false if it is perfect.
    fn augment(&mut self) -> bool {
        self.label.fill(Label::Free);
        self.slack.fill(NONE);
        self.queue.clear();
        for x in self.tops().collect::<Vec<_>>() {
            if self.mate[x] == NONE {
                self.parent[x] = NONE;
                self.label[x] = Label::Outer;
                self.enqueue(x);
            }
        }
        if self.queue.is_empty() {
            return false;
        }
        loop {
            while let Some(u) = self.queue.pop_front() {
                if self.label[self.top[u]] == Label::Inner {
                    continue;
                }
                for v in (0..self.n).filter(|&v| v != u) {
                    if self.top[u] == self.top[v] {
                        continue;
                    }
                    if self.distance(u, v) == 0 {
                        if self.grow(u, v) {
                            return true;
                        }
                    } else {
                        self.consider_slack(u, self.top[v]);
                    }
                }
            }
            self.shift_duals();
            for x in self.tops().collect::<Vec<_>>() {
                let u = self.slack[x];
                if self.top[x] == x && u != NONE && self.top[u] != x && self.distance(u, x) == 0 {
                    let (from, to) = self.edge(u, x);
                    if self.grow(from, to) {
                        return true;
                    }
                }
            }
            for x in self.n..self.used {
                if self.top[x] == x && self.label[x] == Label::Inner && self.dual[x] == 0 {
                    self.expand(x);
                }
            }
        }
    }

    /// Changes the dual variables until an edge becomes tight or a blossom dissolves.
    fn shift_duals(&mut self) {
        let mut step = i128::MAX;
        for x in self.tops() {
            if x >= self.n && self.label[x] == Label::Inner {
                step = step.min(self.dual[x] / 2);
            }
            if self.slack[x] != NONE {
                let distance = self.distance(self.slack[x], x);
                match self.label[x] {
                    Label::Free => step = step.min(distance),
                    Label::Outer => step = step.min(distance / 2),
                    Label::Inner => {}
                }
            }
        }
        for u in 0..self.n {
            match self.label[self.top[u]] {
                Label::Outer => self.dual[u] -= step,
                Label::Inner => self.dual[u] += step,
                Label::Free => {}
            }
        }
        for x in self.n..self.used {
            if self.top[x] == x {
                match self.label[x] {
                    Label::Outer => self.dual[x] += 2 * step,
                    Label::Inner => self.dual[x] -= 2 * step,
                    Label::Free => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee_game::Uniform;
    use referee_game::chance::Seed;

    /// The minimum cost, by exhaustive search.
    fn least(left: &[usize], cost: &impl Fn(usize, usize) -> i128) -> i128 {
        let Some((&a, others)) = left.split_first() else { return 0 };
        let each = others.iter().map(|&b| {
            let rest: Vec<usize> = others.iter().copied().filter(|&x| x != b).collect();
            cost(a, b) + least(&rest, cost)
        });
        each.min().unwrap_or(0)
    }

    #[test]
    fn the_matching_has_minimum_cost() {
        let mut stream = Seed([1; 32]).match_key("matching", "test", &[""]).stream();
        for round in 0..3000 {
            let n = 2 * (1 + round % 5);
            // Few different costs make many blossoms.
            let span = [2, 3, 10, 1_000_000][round % 4];
            let costs: Vec<i128> = (0..n * n).map(|_| i128::from(stream.uniform(span))).collect();
            let cost = |a: usize, b: usize| costs[a.min(b) * n + a.max(b)];
            let mate = cheapest(n, i128::from(span), cost);
            assert!((0..n).all(|x| mate[x] != x && mate[mate[x]] == x), "{mate:?}");
            let sum: i128 = (0..n).filter(|&x| x < mate[x]).map(|x| cost(x, mate[x])).sum();
            let all: Vec<usize> = (0..n).collect();
            assert_eq!(sum, least(&all, &cost), "{n} vertices, {costs:?}");
        }
    }

    #[test]
    fn matching_three_hundred_vertices_pairs_neighbours() {
        // |a - b| - 1 is 0 for neighbours alone.
        let mate = cheapest(300, 300, |a, b| (a.abs_diff(b) - 1) as i128);
        assert!((0..300).all(|x| mate[x] == x ^ 1));
    }
}
