//! The checker's own arithmetic finds every network that decides otherwise than its program.

use pgn_engine::MachineNet;
use pgn_lab::machine::MachineRun;
use pgn_machines::View;
use pgn_structures::Rng;

/// Scales single weights further and further until the engine decides otherwise somewhere. From
/// then on the checker has to reject the network; while it still proves it, the engine is right.
#[test]
fn a_network_that_decides_otherwise_is_rejected() {
    for (name, weights) in [("dsu", 60), ("forest", 20), ("heap", 20), ("lct", 4)] {
        let run = MachineRun::built_in(name).unwrap();
        let pairs = run.machine().consistent();
        let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
        let tensors: Vec<String> =
            run.net().parameters().tensors().iter().map(|one| one.name.to_string()).collect();
        let (mut rng, mut flipped, mut proved) = (Rng::new([5, 0, 0, 0]), 0, 0);
        for _ in 0..weights {
            let tensor = &tensors[rng.below(tensors.len() as u32) as usize];
            let count = run.net().parameters().get(tensor).unwrap().len();
            let at = rng.below(count as u32) as usize;
            for scale in [2.0, -1.0, 8.0, -8.0, 64.0, -64.0] {
                let mut parameters = run.net().parameters().clone();
                parameters.get_mut(tensor).unwrap()[at] *= scale;
                let net = MachineNet::from_parameters(
                    run.machine().signature().clone(),
                    *run.net().settings(),
                    parameters,
                );
                let changed =
                    MachineRun::new(run.config().clone(), run.machine().clone(), net.unwrap());
                let predictions = changed.net().predictions(&views).unwrap();
                let right = predictions.iter().zip(pairs).all(|(one, pair)| one.action == pair.1);
                match pgn_check::check(&changed.proof()) {
                    Ok(_) => {
                        assert!(right, "{name}: {tensor}[{at}] times {scale} is proved");
                        proved += 1;
                    }
                    Err(why) => {
                        assert_eq!(why.part, "arithmetic", "{why}");
                        let rounding = why.why.contains("with errors up to");
                        assert!(rounding, "{name}: {tensor}[{at}] times {scale}: {why}");
                    }
                }
                if !right {
                    flipped += 1;
                    break;
                }
            }
        }
        assert!(flipped > weights / 8 && proved > 0, "{name}: {flipped} of {weights}, {proved}");
    }
}
