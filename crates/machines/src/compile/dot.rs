//! Decision trees as a drawing for Graphviz.

use std::fmt::Write;

use super::text::Words;
use super::tree::{Branch, Tree};
use crate::lens::Lens;

/// One cluster per state; reads are ellipses, leaves are boxes with their writes.
pub(super) fn dot(tree: &Tree, lenses: &[Lens]) -> String {
    let mut text = format!("digraph \"{}\" {{\n", escaped(&tree.signature.name));
    text += "  node [fontname=\"sans-serif\" fontsize=10];\n";
    text += "  edge [fontname=\"sans-serif\" fontsize=9];\n";
    for (state, (branch, lens)) in tree.states.iter().zip(lenses).enumerate() {
        let Some(branch) = branch else { continue };
        let words = Words { signature: &tree.signature, lens };
        let name = escaped(&tree.signature.states[state].name);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  subgraph cluster_{state} {{\n    label=\"{name}\";");
        let mut nodes = 0;
        draw(branch, &words, state, &mut nodes, &mut text);
        text += "  }\n";
    }
    text + "}\n"
}

/// Draws a tree and gives the number of its root.
fn draw(
    branch: &Branch,
    words: &Words,
    state: usize,
    nodes: &mut usize,
    text: &mut String,
) -> usize {
    let number = *nodes;
    *nodes += 1;
    match branch {
        Branch::Read { test, outcomes } => {
            let label = escaped(&words.test(*test));
            let _ = writeln!(text, "    s{state}_{number} [label=\"{label}\"];");
            for outcome in outcomes {
                let child = draw(&outcome.then, words, state, nodes, text);
                let found: Vec<_> =
                    outcome.found.iter().map(|&found| words.found(*test, found)).collect();
                let found = escaped(&found.join(", "));
                let edge = format!("s{state}_{number} -> s{state}_{child}");
                let _ = writeln!(text, "    {edge} [label=\"{found}\"];");
            }
        }
        Branch::Act { effects, next } => {
            let mut lines: Vec<_> =
                effects.iter().map(|&effect| escaped(&words.effect(effect))).collect();
            lines.push(format!("→ {}", escaped(&words.signature.states[usize::from(*next)].name)));
            let label = lines.join("\\l");
            let _ = writeln!(text, "    s{state}_{number} [shape=box label=\"{label}\\l\"];");
        }
        Branch::Outside => {
            let _ =
                writeln!(text, "    s{state}_{number} [shape=plain label=\"not in the table\"];");
        }
    }
    number
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
