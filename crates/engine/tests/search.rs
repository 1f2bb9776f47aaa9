//! Rollouts that search for pointers by an index: exact search changes nothing, whatever the model and
//! the number of threads.

mod beside_reference;

use beside_reference::cases::weights;
use pgn_engine::{AttentionInput, Config, Model, Search};
use pgn_structures::{Operation, Rng};
use rayon::ThreadPoolBuilder;

/// Pointers after some operations on `n` nodes.
fn pointers(model: &Model, search: Search, n: u32) -> Vec<Vec<u32>> {
    let mut rng = Rng::new([4, 0, 0, n.into()]);
    let mut state = model.clone().searching(search).start(n as usize).unwrap();
    let mut after = |_| state.apply(Operation::sample(n, &mut rng)).unwrap().pointers.to_vec();
    (0..4).map(&mut after).collect()
}

#[test]
fn exact_search_finds_the_same_pointers() {
    let zh = Config { attention_input: AttentionInput::Zh, ..Config::preset("pgn-nm").unwrap() };
    let configs = ["pgn", "pgn-nm", "dgm"].map(|name| Config::preset(name).unwrap());
    for config in configs.into_iter().chain([zh]) {
        for k in [8, 32] {
            let config = Config { k, ..config.clone() };
            let mut parameters = weights(&config, 5);
            // Some nodes are visited, and not all.
            if let Some(bias) = parameters.get_mut("mask.bias") {
                bias.fill(-0.2);
            }
            let model = Model::from_parameters(config.clone(), parameters).unwrap();
            for n in [2048, 2777] {
                let full = pointers(&model, Search::Full, n);
                for threads in [1, 3] {
                    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let exact = pool.install(|| pointers(&model, Search::Exact, n));
                    assert!(exact == full, "{config:?}, n = {n}, {threads} threads");
                }
                let moved = full[3].iter().zip(0..).filter(|(to, node)| **to != *node).count();
                assert!(moved > 100, "{moved} pointers moved");
            }
        }
    }
}
