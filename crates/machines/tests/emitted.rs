//! What compiled machines are written as.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use pgn_machines::compile::{Format, Tree};
use pgn_machines::{
    Call, Compiled, Definition, Halt, Machine, Memory, Program, Signature, Store, interpret,
    programs,
};
use pgn_structures::{Node, Rng};

fn compiled(name: &str) -> Compiled {
    let machine = Machine::new(programs::named(name).unwrap()).unwrap();
    Compiled::new(&machine, machine.consistent()).unwrap()
}

/// A program with names that are easily confused: a register `x_up` beside the path `x.up`, and
/// registers called as what the emitted code uses itself.
fn confusing() -> Definition {
    fn step(_: u8, memory: &mut dyn Memory) -> Option<u8> {
        let x = memory.register(0)?;
        let other = memory.register(1);
        let above = memory.pointer(x, 0);
        memory.set_pointer(x, 0, other.filter(|&other| other != x).or(above));
        memory.set_register(1, above);
        Some(if above.is_some() { 1 } else { 2 })
    }
    let signature = Signature::new("confusing")
        .pointers(&["up"])
        .registers(&["x", "x_up", "c", "state", "self"])
        .states(&["type"])
        .halt("node", Halt::Node(1))
        .halt("nothing", Halt::Done)
        .operation("run", "type", &["x", "x_up"], &[])
        .operation("type", "type", &["x", "c"], &[]);
    Definition::new(signature, step)
}

/// Calls of a program, one a line, and what they should give: the outcome, then all fields.
fn calls_of(program: &dyn Program) -> (String, Vec<String>) {
    let mut rng = Rng::new([3, 0, 0, 0]);
    let keys: Vec<u32> = (0..12).map(|_| rng.below(8)).collect();
    let mut store = Store::with_ranks(program.signature(), keys.clone());
    let mut input = keys.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let mut expected = Vec::new();
    for _ in 0..1500 {
        // Every third call is any, legal or not.
        let call = if rng.below(3) > 0 {
            program.sample(&store, &mut rng)
        } else {
            let operations = &program.signature().operations;
            let operation = rng.below(operations.len() as u32) as usize;
            let arguments = operations[operation].arguments.iter().map(|_| rng.below(12));
            Call { operation, arguments: arguments.collect() }
        };
        let arguments: Vec<String> = call.arguments.iter().map(Node::to_string).collect();
        input += &format!("\n{} {}", call.operation, arguments.join(" "));
        let outcome =
            interpret(program, &mut store, &mut (), call.operation, &call.arguments).unwrap();
        let mut line = format!("{outcome:?}");
        for node in 0..keys.len() as Node {
            for field in 0..program.signature().pointers.len() {
                line += &format!(" {}", store.pointer(node, field).unwrap_or(Node::MAX));
            }
            for bit in 0..program.signature().bits.len() {
                line += &format!(" {}", store.bit(node, bit));
            }
        }
        expected.push(line);
    }
    (input, expected)
}

/// What reads such calls, carries them out with an emitted module and prints what they give.
fn driver(program: &dyn Program, suffix: &str) -> String {
    let signature = program.signature();
    let name = &signature.name;
    let structure = name[..1].to_uppercase() + &name[1..];
    let new = if signature.children.is_empty() { "keys" } else { "keys, ()" };
    let mut calls = String::new();
    for (number, operation) in signature.operations.iter().enumerate() {
        let arguments: Vec<_> = (0..operation.arguments.len()).map(|i| format!("a[{i}]")).collect();
        // Words of Rust and of the module itself have an underscore.
        let reserved = ["type", "run"].contains(&&*operation.name);
        let method = operation.name.clone() + if reserved { "_" } else { "" };
        calls += &format!("{number} => structure.{method}({}),", arguments.join(", "));
    }
    let fields = signature.pointers.iter().chain(&signature.bits);
    let fields: String =
        fields.map(|field| format!("line += &format!(\" {{}}\", node.{field});")).collect();
    format!(
        "if name == \"{name}{suffix}\" {{
             let mut structure = {name}{suffix}::{structure}::new({new});
             for line in lines {{
                 let words: Vec<u32> = line.split(' ').map(|word| word.parse().unwrap()).collect();
                 let a = &words[1..];
                 let outcome = match words[0] {{ {calls} _ => unreachable!() }};
                 let mut line = match outcome {{
                     Ok(outcome) => format!(\"{{outcome:?}}\"),
                     Err(refused) => format!(\"{{refused:?}}\"),
                 }};
                 for node in &structure.nodes {{ {fields} }}
                 println!(\"{{line}}\");
             }}
             return;
         }}"
    )
}

#[test]
fn emitted_rust_does_what_the_programs_do() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emitted");
    std::fs::create_dir_all(&folder).unwrap();
    let mut programs: Vec<Arc<dyn Program>> =
        programs::NAMES.into_iter().filter_map(programs::named).collect();
    programs.push(Arc::new(confusing()));
    let mut main = String::from("#![deny(warnings)]\n");
    for program in &programs {
        let machine = Machine::new(program.clone()).unwrap();
        let pairs = machine.consistent();
        let name = &program.signature().name;
        let compiled = [Compiled::new(&machine, pairs), Compiled::checked(&machine, pairs)];
        for (compiled, suffix) in compiled.into_iter().zip(["", "_checked"]) {
            let source = compiled.unwrap().emit(Format::Rust);
            assert!(source.contains(&format!("on all {} views", pairs.len())), "{source}");
            std::fs::write(folder.join(format!("{name}{suffix}.rs")), source).unwrap();
            main += &format!("mod {name}{suffix};\n");
        }
    }
    main += "fn main() {
        let name = std::env::args().nth(1).unwrap();
        let input = std::fs::read_to_string(std::env::args().nth(2).unwrap()).unwrap();
        let mut lines = input.lines();
        let keys = lines.next().unwrap().split(' ').map(|key| key.parse().unwrap()).collect();\n";
    for program in &programs {
        main += &driver(&**program, "");
        main += &driver(&**program, "_checked");
    }
    std::fs::write(folder.join("main.rs"), main + "}\n").unwrap();
    let rustc = Command::new("rustc")
        .args(["--edition", "2024", "-o", "main", "main.rs"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(rustc.status.success(), "{}", String::from_utf8_lossy(&rustc.stderr));
    for program in programs {
        let (input, expected) = calls_of(&*program);
        let name = &program.signature().name;
        let path = folder.join(format!("{name}.txt"));
        std::fs::write(&path, input).unwrap();
        for name in [name.clone(), format!("{name}_checked")] {
            let done = Command::new(folder.join("main")).arg(&name).arg(&path).output().unwrap();
            let found = String::from_utf8(done.stdout).unwrap();
            let refused = found.lines().filter(|line| line.starts_with("Refused")).count();
            let preconditions =
                program.signature().operations.iter().any(|one| !one.requires.is_empty());
            assert!(refused > 5 || !preconditions, "{name}: {refused}");
            assert_eq!(found.lines().count(), expected.len(), "{name}");
            for (t, (found, expected)) in found.lines().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{name}, call {t}");
            }
        }
    }
}

#[test]
fn names_that_are_one_name_in_rust_are_refused() {
    let fine = || Signature::new("list").states(&["walk"]).pointers(&["next"]).registers(&["x"]);
    assert_eq!(fine().check(), Ok(()));
    for signature in [
        fine().registers(&["X"]),
        fine().pointers(&["Next"]),
        fine().bits(&["next"]),
        fine().states(&["Walk"]),
        fine().control("goal", &["a b", "a-b"]),
        fine().control("x", &["no"]),
        fine().control("node", &["no"]),
        fine().operation("step walk", "walk", &["x"], &[]),
    ] {
        let error = signature.check().unwrap_err();
        assert!(error.contains("are too similar"), "{error}");
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

/// A module says what is known of its machine, and not more.
#[test]
fn rust_says_what_was_proved() {
    let head = |compiled: &Compiled| {
        let source = compiled.emit(Format::Rust);
        let lines = source.lines().take_while(|line| line.starts_with("//!"));
        assert!(lines.clone().all(|line| line.chars().count() <= 100));
        lines.map(|line| &line[3..]).collect::<String>()
    };
    let unknown = compiled("dsu");
    assert!(head(&unknown).contains("is neither proved nor tested"));
    let statement = "Certified and tested, not proved: the network does what program `dsu` does.";
    let tested = unknown.stating(Some(statement.to_owned()));
    let said = head(&tested);
    assert!(said.contains(statement) && !said.contains("Proved"), "{said}");
}
