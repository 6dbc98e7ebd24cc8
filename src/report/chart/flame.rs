//! A flame graph: nested names with a value each, the wider the more.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::svg::{Picture, Side, Svg, fit};
use crate::units;

const WIDTH: f64 = 960.0;
/// Height of one level.
const LEVEL: f64 = 20.0;
const TITLE: f64 = 34.0;
/// Parts that are narrower are not drawn.
const LEAST: f64 = 1.0;
/// Classes of the levels.
const COLOURS: [&str; 4] = ["cell-slower", "cell-open", "cell-much", "cell-faster"];

/// Times in ns by their chains of names, from the outermost on.
pub type Stacks = Vec<(Vec<String>, f64)>;

/// A file with a flame graph for each title.
pub fn flames(all: &[(String, Stacks)]) -> Result<String> {
    let pictures = all.iter().filter_map(|(title, stacks)| flame(title, stacks)).collect();
    let picture = Picture::stacked(pictures);
    Ok(picture.context("no environment takes more time than the machine itself")?.as_file())
}

/// What stands on a level, with its own value and what stands on it.
#[derive(Default)]
struct Node {
    ns: f64,
    children: BTreeMap<String, Node>,
}

impl Node {
    fn depth(&self) -> usize {
        1 + self.children.values().map(Node::depth).max().unwrap_or(0)
    }
}

/// What is not positive has no width.
fn flame(title: &str, stacks: &[(Vec<String>, f64)]) -> Option<Picture> {
    let mut root = Node::default();
    for (names, ns) in stacks.iter().filter(|(_, ns)| *ns > 0.0) {
        root.ns += ns;
        let mut at = &mut root;
        for name in names {
            at = at.children.entry(name.clone()).or_default();
            at.ns += ns;
        }
    }
    if root.ns <= 0.0 {
        return None;
    }
    let mut svg = Svg::default();
    let whole = units::time(root.ns);
    svg.text((0.0, 16.0), Side::Start, "big", &fit(&format!("{title}: {whole}"), WIDTH));
    let levels = (root.depth() - 1) as f64;
    let mut drawing = Drawing { svg, root: root.ns, bottom: TITLE + levels * LEVEL };
    drawing.children(&root, 0.0, 0);
    let largest = root.children.iter().max_by(|a, b| a.1.ns.total_cmp(&b.1.ns))?;
    let share = units::percent(largest.1.ns / root.ns);
    Some(Picture {
        width: WIDTH,
        height: drawing.bottom + 4.0,
        title: title.to_owned(),
        description: format!("{whole}, of which {share} in {}.", largest.0),
        svg: drawing.svg,
    })
}

struct Drawing {
    svg: Svg,
    root: f64,
    bottom: f64,
}

impl Drawing {
    /// What stands on a node whose left edge is at `x`, the largest first.
    fn children(&mut self, node: &Node, mut x: f64, level: usize) {
        let mut children: Vec<_> = node.children.iter().collect();
        children.sort_by(|a, b| b.1.ns.total_cmp(&a.1.ns));
        for (name, child) in children {
            let width = WIDTH * child.ns / self.root;
            if width < LEAST {
                break;
            }
            let y = self.bottom - (level + 1) as f64 * LEVEL;
            let share = units::percent(child.ns / self.root);
            let told = format!("{name}: {}, {share}", units::time(child.ns));
            self.svg.titled(&told, |svg| {
                let class = COLOURS[level % COLOURS.len()];
                svg.rect((x, y), (width - 0.6, LEVEL - 1.0), class);
                if width > 30.0 {
                    svg.text((x + 3.0, y + 14.0), Side::Start, "small", &fit(name, width - 6.0));
                }
            });
            self.children(child, x, level + 1);
            x += width;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_shares_and_what_gained_has_none() {
        let stack = |names: &[&str], ns: f64| (names.iter().map(|it| it.to_string()).collect(), ns);
        let stacks = [
            stack(&["sh", "exec"], 3e6),
            stack(&["sh", "cat <x>", "read"], 1e6),
            stack(&["sh", "stat"], -1e6),
        ];
        let file = flame("x in gvisor", &stacks).unwrap().as_file();
        assert!(file.contains("x in gvisor: 4.00 ms"), "{file}");
        assert!(file.contains("<title>exec: 3.00 ms, 75\u{a0}%</title>"), "{file}");
        assert!(file.contains("h719.4v19") && file.contains("cat &lt;x&gt;"), "{file}");
        assert!(!file.contains("stat"));
        assert!(flame("x", &stacks[2..]).is_none());
    }
}
