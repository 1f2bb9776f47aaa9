//! What the page knows about models and programs is what the other crates have.

/// Every line of `styles` that says how a model is drawn: the model, and the rest.
fn rules(styles: &str) -> impl Iterator<Item = (&str, &str)> {
    styles.lines().filter_map(|line| line.strip_prefix(".model-")?.split_once(' '))
}

const STYLES: &str = include_str!("../web/src/style.css");

#[test]
fn the_page_draws_a_model_in_the_ink_of_the_figures() {
    let mut compared = 0;
    for (model, rest) in rules(STYLES) {
        let ink = rest.split_once("var(--").unwrap().1.split_once(')').unwrap().0;
        // The page's vermilion is darker, for text, and is called red.
        let ink = if ink == "red" { "vermilion" } else { ink };
        if let Some(figures) = pgn_figures::model_ink(model) {
            assert_eq!(ink, figures, "{model}");
            compared += 1;
        }
    }
    assert!(compared >= 6, "{compared}");
}

#[test]
fn every_model_has_a_line_of_its_own() {
    let palette = include_str!("../web/src/palette.ts");
    let mut strokes = Vec::new();
    for model in pgn_engine::Preset::ALL.iter().map(|preset| preset.name).chain(["pgn-machine"]) {
        let found = rules(STYLES).find(|(name, _)| *name == model);
        let (_, rest) = found.unwrap_or_else(|| panic!("style.css has no rule for {model}"));
        assert!(palette.contains(&format!("'{model}'")), "palette.ts does not know {model}");
        assert!(!strokes.contains(&rest), "{model} is drawn like another model");
        strokes.push(rest);
    }
}

/// A state that the page has no sentence for would be told by its name only.
#[test]
fn the_page_tells_every_state_of_every_program() {
    for (name, text) in [
        ("dsu", include_str!("../web/src/programs/dsu.ts")),
        ("lct", include_str!("../web/src/programs/lct.ts")),
        ("forest", include_str!("../web/src/programs/forest.ts")),
        ("splay", include_str!("../web/src/programs/splay.ts")),
        ("heap", include_str!("../web/src/programs/heap.ts")),
    ] {
        let program = pgn_machines::programs::named(name).unwrap();
        let states = &program.signature().states;
        for state in states.iter().filter(|state| state.halt.is_none()) {
            assert!(text.contains(&format!("case '{}':", state.name)), "{name}: {}", state.name);
        }
    }
}
