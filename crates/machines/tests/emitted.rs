//! What compiled machines are written as.

use std::path::Path;
use std::process::Command;

use pgn_machines::compile::{Format, Tree};
use pgn_machines::{Compiled, Machine, programs};

fn compiled(name: &str) -> Compiled {
    let machine = Machine::new(programs::named(name).unwrap()).unwrap();
    Compiled::new(&machine, &machine.consistent()).unwrap()
}

/// The speed example runs them, so that what it measures is what is emitted. Set
/// `UPDATE_EMITTED` to write them anew.
#[test]
fn the_modules_of_the_speed_example_are_what_is_emitted() {
    for name in ["dsu", "lct"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/speed/{name}.rs"));
        let source = compiled(name).emit(Format::Rust);
        if std::env::var_os("UPDATE_EMITTED").is_some() {
            std::fs::write(&path, &source).unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap() == source, "{} is stale", path.display());
    }
}

#[test]
fn emitted_rust_compiles_on_its_own_and_is_formatted() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for name in programs::NAMES {
        let path = directory.join(format!("emitted_{name}.rs"));
        std::fs::write(&path, compiled(name).emit(Format::Rust)).unwrap();
        let formatted = Command::new("rustfmt")
            .args(["--check", "--edition", "2024", "--config-path", "/dev/null"])
            .arg(&path)
            .output()
            .unwrap();
        let difference = String::from_utf8_lossy(&formatted.stdout);
        assert!(formatted.status.success(), "{name}: {difference}");
        let rustc = Command::new("rustc")
            .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"])
            .args(["-D", "warnings", "--out-dir"])
            .args([directory, &path])
            .output()
            .unwrap();
        assert!(rustc.status.success(), "{name}: {}", String::from_utf8_lossy(&rustc.stderr));
    }
}

#[test]
fn json_is_the_tree() {
    for name in programs::NAMES {
        let compiled = compiled(name);
        let read: Tree = serde_json::from_str(&compiled.emit(Format::Json)).unwrap();
        assert_eq!(&read, compiled.tree());
    }
}

#[test]
fn dot_has_every_leaf() {
    for name in programs::NAMES {
        let compiled = compiled(name);
        let drawing = compiled.emit(Format::Dot);
        assert_eq!(drawing.matches("shape=box").count(), compiled.tree().leaves());
        assert_eq!(drawing.matches('{').count(), drawing.matches('}').count());
    }
}
