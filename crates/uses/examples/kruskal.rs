//! A minimum spanning tree by Kruskal's algorithm, with a disjoint-set union that was learned.
//!
//! ```text
//! cargo run --release -p pgn-uses --example kruskal
//! ```

use pgn_lab::machine::{MachineRun, Mode};
use pgn_uses::{Edge, LearnedDsu, UnionFind};

fn main() -> Result<(), pgn_uses::Error> {
    // Towns, and what a cable between them costs.
    let towns = ["Aarhus", "Bergen", "Cork", "Delft", "Espoo"];
    let mut cables = [(0, 1, 71), (0, 3, 56), (1, 2, 98), (1, 4, 102), (2, 3, 83), (3, 4, 149)]
        .map(|(u, v, weight)| Edge { u, v, weight });

    // The host sorts; the learned structure decides which cables join two parts.
    cables.sort_by_key(|cable| cable.weight);
    let machine = MachineRun::built_in("dsu")?;
    let mut parts = LearnedDsu::new(&machine, Mode::Compiled, towns.len())?;
    let mut total = 0;
    for Edge { u, v, weight } in cables {
        if parts.unite(u, v)? {
            println!("{} – {}: {weight}", towns[u as usize], towns[v as usize]);
            total += weight;
        }
    }
    println!("total: {total}");
    assert_eq!(total, 312);
    Ok(())
}
