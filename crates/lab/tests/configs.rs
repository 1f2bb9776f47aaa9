//! What a run config accepts and what it refuses.

use pgn_lab::RunConfig;
use toml::{Table, toml};

fn refused(settings: Table) -> String {
    let sentence = RunConfig::resolve(settings).unwrap_err().to_string();
    assert!(!sentence.contains('\n'), "more than one line: {sentence}");
    sentence
}

#[test]
fn round_trip_through_toml() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    for &model in pgn_engine::Config::PRESETS {
        for task in ["dsu", "lct"] {
            let mut config = RunConfig::defaults(task, model, 3).unwrap();
            config.learning_rate = 0.1 + 0.2;
            config.network.losses.query = 0.1;
            config.clip = 1e-3;
            if model == "pgn-ptrs" {
                config.data.teacher = Some("somewhere".into());
                config.data.teacher_crc32c = Some(u32::MAX);
            }
            std::fs::write(&path, config.to_toml()).unwrap();
            let back = RunConfig::load(&path).unwrap();
            assert_eq!(back, config);
            assert_eq!(back.to_toml(), config.to_toml());
            assert_eq!(back.difference(&config), None);
        }
    }
}

/// Settings that are newer than committed configs are written only where they are used.
#[test]
fn mixed_forcing_is_written_where_there_is_any() {
    let plain = RunConfig::resolve(toml! { model = "pgn-free" }).unwrap();
    assert!(!plain.to_toml().contains("teacher_probability"));
    let settings = toml! {
        teacher_probability = 1
        final_teacher_probability = 0.25
        network = { forcing = "own" }
    };
    let mixed = RunConfig::resolve(settings).unwrap();
    assert_eq!((mixed.teacher_probability, mixed.final_teacher_probability), (1.0, Some(0.25)));
    let keys: Vec<String> = mixed.departures().into_keys().collect();
    assert_eq!(keys, ["final_teacher_probability", "network.forcing", "teacher_probability"]);
    let back: RunConfig = toml::from_str(&mixed.to_toml()).unwrap();
    assert_eq!(back, mixed);
}

#[test]
fn a_resolved_config_resolves_to_itself() {
    let config = RunConfig::resolve(toml! {
        task = "lct"
        model = "pgn-asym"
        clip = 2
        data = { nodes = [10, 30], sequences = 9 }
        test = { nodes = [40] }
        network = { k = 16, losses = { masks = 0.5 } }
    })
    .unwrap();
    assert_eq!(config.batch, 9, "all sequences unless given");
    assert_eq!(config.data.ops, [15, 45]);
    assert_eq!(config.test.ops, [60]);
    assert_eq!(config.network.losses.pointers, 5.0, "the preset's");
    let again = RunConfig::resolve(config.to_toml().parse().unwrap()).unwrap();
    assert_eq!(again, config);
    let keys: Vec<String> = config.departures().into_keys().collect();
    let expected = [
        "batch",
        "clip",
        "data.nodes",
        "data.ops",
        "data.sequences",
        "network.k",
        "network.losses.masks",
        "test.nodes",
        "test.ops",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn nonsense_is_refused_by_name() {
    for (settings, words) in [
        (toml! { epoch = 3 }, "unknown field `epoch`"),
        (toml! { data = { node = [3] } }, "unknown field `node`"),
        (toml! { network = { layer = 3 } }, "unknown field `layer`"),
        (toml! { network = { losses = { mask = 1.0 } } }, "unknown field `mask`"),
        (toml! { epochs = (-1) }, "-1"),
        (toml! { epochs = "many" }, "invalid type"),
        (toml! { model = 3 }, "model is 3"),
        (toml! { model = "gmm" }, "there is no model 'gmm'"),
        (toml! { task = "stack" }, "stack"),
        (toml! { learning_rate = nan }, "learning_rate is NaN"),
        (toml! { learning_rate = 0 }, "learning_rate is 0"),
        (toml! { learning_rate = 1e39 }, "learning_rate is 1000000"),
        (toml! { learning_rate = 1e-46 }, "learning_rate is 0.0000000"),
        (toml! { clip = 1e39 }, "clip is 1000000"),
        (toml! { clip = 1e-46 }, "clip is 0.0000000"),
        (toml! { learning_rate = (-0.1) }, "learning_rate is -0.1"),
        (toml! { clip = inf }, "clip is inf"),
        (toml! { clip = (-1.0) }, "clip is -1"),
        (toml! { decay = "linear" }, "unknown variant `linear`"),
        (toml! { final_fraction = 1.5 }, "final_fraction is 1.5"),
        (
            toml! { decay = "exponential"  final_fraction = 0.0 },
            "exponential decay requires a number > 0",
        ),
        (toml! { teacher_probability = 0.5 }, "requires network.forcing"),
        (toml! { final_teacher_probability = 0.5 }, "requires network.forcing"),
        (toml! { model = "pgn-free"  teacher_probability = 1.5 }, "teacher_probability is 1.5"),
        (toml! { model = "pgn-free"  teacher_probability = nan }, "teacher_probability is NaN"),
        (toml! { network = { forcing = "forced" } }, "unknown variant `forced`"),
        (toml! { batch = 0 }, "batch is 0"),
        (toml! { batch = 71 }, "batch is 71"),
        (toml! { evaluate_every = 0 }, "evaluate_every is 0"),
        (toml! { network = { k = 0 } }, "k is 0"),
        (toml! { network = { k = 33 } }, "k is 33"),
        (toml! { network = { losses = { query = nan } } }, "query loss is NaN"),
        (toml! { data = { nodes = [1] } }, "data.nodes holds 1"),
        (toml! { data = { nodes = [] } }, "data.nodes is empty"),
        (toml! { data = { nodes = [5, 5] } }, "twice"),
        (toml! { data = { ops = [0] } }, "data.ops holds 0"),
        (toml! { data = { ops = [5, 6] } }, "data.ops has 2 entries"),
        (toml! { data = { sequences = 0 } }, "data.sequences is 0"),
        (toml! { data = { validation_sequences = 0 } }, "data.validation_sequences is 0"),
        (toml! { test = { sequences = 0 } }, "test.sequences is 0"),
        (toml! { model = "pgn-ptrs" }, "data.teacher"),
        (toml! { data = { teacher = "/nowhere" } }, "/nowhere"),
        (toml! { data = { train = "/nowhere.safetensors" } }, "/nowhere.safetensors"),
    ] {
        let sentence = refused(settings);
        assert!(sentence.contains(words), "expected '{words}' in: {sentence}");
    }
}

#[test]
fn the_first_difference_is_named() {
    let ours = RunConfig::defaults("dsu", "pgn", 0).unwrap();
    let mut other = ours.clone();
    other.data.teacher = Some("elsewhere".into());
    assert_eq!(ours.difference(&other), None, "paths are compared by what was in them");
    other.data.teacher_crc32c = Some(1);
    let absent = ("data.teacher_crc32c".to_owned(), "absent".to_owned(), "1".to_owned());
    assert_eq!(ours.difference(&other), Some(absent));
    other = RunConfig { clip: 2.0, ..ours.clone() };
    assert_eq!(ours.difference(&other).unwrap().0, "clip");
}
