//! A minimum spanning forest of a graph whose edges arrive one by one, with a link/cut tree that
//! was learned: the heaviest edge of every cycle leaves.
//!
//! ```text
//! cargo run --release -p pgn-uses --example online_msf
//! ```

use pgn_lab::machine::{MachineRun, Mode};
use pgn_machines::At;
use pgn_structures::Max;
use pgn_uses::{DynamicForest, LearnedForest};

fn main() -> Result<(), pgn_uses::Error> {
    let edges = [(0, 1, 71), (0, 3, 56), (1, 3, 40), (2, 3, 83), (0, 2, 90), (2, 1, 12)];

    // Nodes 0 to 3 are the graph's; node 4 + i is edge i, and its value is the edge's weight. The
    // heaviest edge between two nodes is then the maximum along a path.
    let value = |node: u32| match node.checked_sub(4) {
        Some(edge) => Max(At { value: edges[edge as usize].2, node }),
        None => Max(At { value: 0, node }),
    };
    let machine = MachineRun::built_in("lct")?;
    let mut forest = LearnedForest::new(&machine, Mode::Compiled, (0..10).map(value).collect())?;

    let mut weight = 0;
    for (node, (u, v, cost)) in (4..).zip(edges) {
        let heaviest = forest.path_aggregate(u, v)?; // u is the root now
        if let Some(Max(At { value, node: old })) = heaviest {
            if value <= cost {
                println!("{u} – {v} ({cost}): stays out, {value} is the heaviest on its cycle");
                continue;
            }
            println!("{u} – {v} ({cost}): takes the place of an edge of weight {value}");
            forest.cut(old)?; // from the side of u
            forest.evert(v)?;
            forest.cut(old)?; // from the side of v
            weight -= value;
        } else {
            println!("{u} – {v} ({cost}): joins two trees");
        }
        forest.evert(u)?;
        forest.link(u, node)?; // u hangs from the edge,
        forest.link(node, v)?; // and the edge from v
        weight += cost;
    }
    println!("weight of the forest: {weight}");
    assert_eq!(weight, 108);
    Ok(())
}
