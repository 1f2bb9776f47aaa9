//! The same bits with every set of instructions, in training and in rollouts.

use pgn_engine::{
    Config, Example, MachineNet, MachineSettings, Model, Preset, ProcessorKind, SimdLevel, Trainer,
    TrainerOptions,
};
use pgn_machines::{Machine, programs};
use pgn_structures::{Curriculum, Dataset, Sampling, Task};

/// What `work` gives, which must be the same on every level.
fn on_every_level<T: PartialEq>(what: &str, work: impl Fn(SimdLevel) -> T) {
    let levels = SimdLevel::all();
    let first = work(levels[0]);
    for &level in &levels[1..] {
        let [name, other] = [level, levels[0]].map(SimdLevel::name);
        assert!(work(level) == first, "{what}: {name} differs from {other}");
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn training_and_rollouts_of_all_models() {
    let sampling = Sampling { count: 3, ops: 8, ..Sampling::paper(21) };
    let forest = Task::named("forest").unwrap();
    let owned = (0..6).map(|i| Curriculum::of_size(9).sample(&forest, 0, 0, i).unwrap());
    let owned: Vec<_> = owned.collect();
    let transitions: Vec<_> = owned.iter().map(|one| one.get()).collect();
    for name in Preset::ALL.iter().map(|preset| preset.name) {
        // k = 40 takes vectors of 8 and of 16 lanes.
        for k in [32, 40] {
            let config = Config { k, ..Config::preset(name).unwrap() };
            let iterated = matches!(config.processor, ProcessorKind::Iterated(_));
            let task = Task::named(if iterated { "forest" } else { "lct" }).unwrap();
            let set = Dataset::sample(&task, &sampling).unwrap();
            let batch: Vec<_> =
                set.sequences().map(|sequence| Example::oracle(&config, sequence)).collect();
            on_every_level(name, |level| {
                let model = Model::new(config.clone(), 3).unwrap().on_level(level);
                let mut trainer = Trainer::new(model, TrainerOptions::default()).unwrap();
                let losses: Vec<u64> = (0..4)
                    .map(|_| match iterated {
                        true => trainer.step_on(&transitions).unwrap().total.to_bits(),
                        false => trainer.step(&batch).unwrap().total.to_bits(),
                    })
                    .collect();
                let rollout = trainer.model().rollout(batch[0]).unwrap();
                let masks = rollout.mask_logits.as_deref().map(bits);
                let weights = bits(trainer.model().parameters().values());
                (losses, weights, bits(&rollout.query_logits), masks, rollout.pointers)
            });
        }
    }
}

#[test]
fn training_of_a_machine() {
    let machine = Machine::new(programs::named("dsu").unwrap()).unwrap();
    let pairs = machine.consistent();
    let batch: Vec<_> = pairs.iter().map(|(view, action)| (view, action)).collect();
    on_every_level("dsu", |level| {
        let settings = MachineSettings::default();
        let net = MachineNet::new(machine.signature().clone(), settings, 0).unwrap();
        let mut trainer = Trainer::new(net.on_level(level), TrainerOptions::default()).unwrap();
        let losses: Vec<u64> =
            (0..4).map(|_| trainer.step(&batch).unwrap().total.to_bits()).collect();
        (losses, bits(trainer.model().parameters().values()))
    });
}
