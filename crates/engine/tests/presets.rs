//! The table of presets.

use pgn_engine::{Config, PointerSource, Pointers, Preset};

#[test]
fn whoever_is_given_pointers_says_whose() {
    for preset in Preset::ALL {
        let config = preset.config();
        config.validate().unwrap();
        assert_eq!(preset.given != PointerSource::None, config.pointers == Pointers::Given);
        assert!(!preset.summary.is_empty(), "{}", preset.name);
        if let PointerSource::Teacher(teacher) = preset.given {
            assert!(Config::preset(teacher).unwrap().owns_pointers(), "{}", preset.name);
        }
    }
    assert!(Config::PRESETS.iter().all(|name| !name.is_empty()));
}
