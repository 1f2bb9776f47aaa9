//! Tables of programs, proved by the checker, and mutants of them, which it rejects.

use pgn_check::{Report, check_table};
use pgn_machines::{Action, Error, Exploration, Machine, Outcome, Store, View, Write, programs};
use pgn_structures::Rng;
use serde_json::{Value, json};

fn proof(name: &str) -> Value {
    let machine = Machine::new(programs::named(name).unwrap()).unwrap();
    machine.proof(json!({ "k": 8, "rounds": 1, "cap": 6.0 }))
}

fn proved(proof: &Value) -> Result<Report, String> {
    check_table(&proof.to_string()).map_err(|refutation| refutation.to_string())
}

#[test]
fn all_programs_are_proved() {
    for name in programs::NAMES {
        let report = proved(&proof(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(report.views <= report.rows && report.induction > 100, "{report:?}");
    }
    // What the answers mean, in terms of sets.
    assert_eq!(["dsu", "forest"].map(|name| proved(&proof(name)).unwrap().answers >= 5), [true; 2]);
}

/// Clauses that a proof does not need, as others imply them: under the name of their program. What
/// is said of answers is not among them: it is proved and never assumed.
const SPARE: &str = include_str!("spare_clauses.txt");

fn clauses(proof: &Value) -> Vec<String> {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    proof["clauses"].as_array().unwrap().iter().map(|one| one_line(one.as_str().unwrap())).collect()
}

/// Whether a clause is about registers where an operation ends, and nothing but a claim.
fn is_about_answers(proof: &Value, clause: &str) -> bool {
    let states = proof["signature"]["states"].as_array().unwrap();
    let halts = |name: &str| states.iter().any(|one| one["name"] == name && !one["halt"].is_null());
    let effect = clause.contains(" join ") || clause.contains(" split ");
    let memory = clause.starts_with("no, yes, removed: ");
    let named = clause.split_once(": ").is_some_and(|(names, _)| names.split(", ").all(halts));
    named && !effect && !memory
}

/// Leaves out each clause in turn: all are missed, but those that are spare.
fn needed_clauses(name: &str, and_spare: bool) {
    let whole = proof(name);
    let list = SPARE.split("# ").find_map(|part| part.strip_prefix(&format!("{name}\n")));
    let spare: Vec<&str> = list.unwrap().lines().collect();
    for (at, clause) in clauses(&whole).iter().enumerate() {
        let is_spare = spare.contains(&&**clause) || is_about_answers(&whole, clause);
        if and_spare || !is_spare {
            let mut proof = whole.clone();
            proof["clauses"].as_array_mut().unwrap().remove(at);
            assert_eq!(proved(&proof).is_ok(), is_spare, "{name} without `{clause}`");
        }
    }
}

#[test]
fn clauses_that_are_needed() {
    ["dsu", "forest", "heap"].iter().for_each(|name| needed_clauses(name, true));
    needed_clauses("lct", false);
}

/// As [`clauses_that_are_needed`]; three minutes.
#[test]
#[ignore = "takes three minutes"]
fn clauses_that_splay_needs() {
    needed_clauses("splay", true);
}

/// What could be read in two ways, or means nothing, is not proved.
#[test]
fn what_is_no_proof_is_refused() {
    let refused = |name: &str, change: &dyn Fn(&mut Value), why: &str| {
        let mut proof = proof(name);
        change(&mut proof);
        let found = proved(&proof).unwrap_err();
        assert!(found.contains(why), "{found}");
    };
    // Both join from the sets before, and the outcome would be no equivalence.
    let twice = |proof: &mut Value| {
        let clauses = proof["clauses"].as_array_mut().unwrap();
        clauses.push(json!("yes: goal = union | same -> join v root"));
    };
    refused("dsu", &twice, "can happen at once");
    // A precondition that cannot be looked up, one about what is no argument, and one that
    // excludes every call.
    let requires = |text: &'static str| {
        move |proof: &mut Value| {
            proof["signature"]["operations"][0]["requires"] = json!([text]);
        }
    };
    refused("dsu", &requires("not u ~ v"), "cannot be looked up");
    refused("dsu", &requires("p.up = nil"), "cannot be looked up");
    refused("dsu", &requires("root = u"), "cannot be looked up");
    refused("dsu", &requires("u = nil"), "no memory and no arguments allow a call");
    for read in [
        json!({"register": 99}),
        json!({"control": 99}),
        json!({"pointer": [0, 99]}),
        json!({"pointer": [9, 0]}),
        json!({"bit": [0, 99]}),
        json!({"less": [0, 99]}),
    ] {
        let lens = |proof: &mut Value| {
            let lens = proof["lenses"][1].as_array_mut().unwrap();
            lens.push(read.clone());
        };
        refused("heap", &lens, "reads what is not there");
    }
    for network in [
        json!({"k": 0, "rounds": 4, "cap": 6.0}),
        json!({"k": 1u64 << 60, "rounds": 4, "cap": 6.0}),
        json!({"k": 8, "rounds": 1u64 << 60, "cap": 6.0}),
        json!({"k": 8, "rounds": 4, "cap": -1.0}),
    ] {
        refused("dsu", &|proof| proof["network"] = network.clone(), "a network of k");
    }
    let statement = proved(&proof("heap")).unwrap().statement();
    assert!(statement.contains("insert needs"), "{statement}");
    assert!(!proved(&proof("dsu")).unwrap().statement().contains("preconditions"));
}

#[test]
fn answers_turned_around_are_rejected() {
    let mut turned = 0;
    for name in ["dsu", "forest", "lct"] {
        let whole = proof(name);
        for (at, clause) in clauses(&whole).iter().enumerate() {
            if !is_about_answers(&whole, clause) {
                continue;
            }
            let claim = clause.rfind("-> ").or_else(|| clause.find(": ")).unwrap();
            let (given, claim) = clause.split_at(claim + clause[claim..].find(' ').unwrap() + 1);
            let claim = claim.strip_prefix("not ").map_or(format!("not {claim}"), str::to_owned);
            let mut proof = whole.clone();
            proof["clauses"][at] = json!(format!("{given}{claim}"));
            let why = proved(&proof).unwrap_err();
            assert!(why.contains("is violated afterwards"), "{name}: {given}{claim}: {why}");
            turned += 1;
        }
    }
    assert_eq!(turned, 15);
}

#[test]
fn a_missing_row_is_a_missing_view() {
    for name in ["dsu", "forest", "heap"] {
        let whole = proof(name);
        let report = proved(&whole).unwrap();
        let rows = whole["rows"].as_array().unwrap().len();
        let rejected = (0..rows).filter(|&at| {
            let mut proof = whole.clone();
            proof["rows"].as_array_mut().unwrap().remove(at);
            proved(&proof).is_err_and(|why| why.contains("is not in the table"))
        });
        assert_eq!(rejected.count(), report.views, "{name}");
    }
}

/// Changes that break a structure.
#[test]
fn wrong_actions_are_rejected() {
    let reject =
        |name: &str, state: &str, change: &dyn Fn(&Value, &mut Value) -> bool, why: &str| {
            let mut proof = proof(name);
            let states = proof["signature"]["states"].as_array().unwrap().clone();
            let state = states.iter().position(|one| one["name"] == state).unwrap();
            let rows = proof["rows"].as_array_mut().unwrap();
            // All rows of the state: some are of views that cannot occur.
            let mut changed = 0;
            for row in rows.iter_mut().filter(|row| row["view"]["state"] == state) {
                let (view, before) = (row["view"].clone(), row["action"].clone());
                match change(&view, &mut row["action"]) {
                    true => changed += 1,
                    false => row["action"] = before,
                }
            }
            assert!(changed > 0);
            let found = proved(&proof).unwrap_err();
            assert!(found.contains(why), "{found}");
        };
    // A root that is linked to itself, or both ways.
    let itself = |view: &Value, action: &mut Value| {
        action["pointers"][0] = json!(0);
        view["nodes"] == 2
    };
    reject("dsu", "link", &itself, "closes a cycle");
    // An answer that is turned around: states 5 and 6.
    let lie = |_: &Value, action: &mut Value| {
        action["next"] = json!(11 - action["next"].as_i64().unwrap());
        true
    };
    reject("dsu", "link", &lie, "is violated afterwards");
    // A path that is compressed to where it was, so that s is lost.
    let lost = |_: &Value, action: &mut Value| {
        let moves = action["registers"][2] != -2;
        action["registers"][2] = json!(0);
        action["pointers"][0] = json!(-1);
        moves
    };
    reject("dsu", "compress", &lost, "violated");
    // A rotation that forgets to tell the inner child of its new parent.
    let forgets = |_: &Value, action: &mut Value| {
        let written = action["pointers"].as_array().unwrap().clone();
        let up = (0..written.len()).step_by(3).find(|&at| at > 0 && written[at] != -2);
        up.is_some_and(|at| {
            action["pointers"][at] = json!(-2);
            true
        })
    };
    reject("lct", "rotation", &forgets, "violated");
    reject("splay", "rotation", &forgets, "violated");
}

/// What becomes of changes of single entries of actions.
#[derive(Debug, Default, PartialEq)]
struct Fates {
    /// The table is no longer proved.
    rejected: usize,
    /// What was proved is about other arguments than the call's, and the statement says so.
    other: usize,
    /// The view occurs in no run: without its row the table is proved as well.
    never: usize,
    /// Some operation does not end, which is not among what is proved.
    endless: usize,
    /// Runs keep the clauses, and answers are right about what is connected: another program that
    /// does what the clauses say, which is little of a heap.
    right: usize,
}

/// Changes one entry of one action at a time: all changes, or so many that are drawn.
fn mutants(name: &str, most: usize) -> Fates {
    let machine = Machine::new(programs::named(name).unwrap()).unwrap();
    let (whole, table) = (proof(name), machine.consistent());
    let mut changes = Vec::new();
    for (row, (view, action)) in table.iter().enumerate() {
        let signature = machine.signature();
        let writes =
            || [Write::Keep, Write::Nil].into_iter().chain((0..view.nodes).map(Write::Node));
        let mut change = |change: &dyn Fn(&mut Action)| {
            let mut mutant = action.clone();
            change(&mut mutant);
            if mutant != *action {
                changes.push((row, mutant));
            }
        };
        for write in writes() {
            (0..action.pointers.len()).for_each(|at| change(&|one| one.pointers[at] = write));
            (0..action.registers.len()).for_each(|at| change(&|one| one.registers[at] = write));
        }
        (0..action.toggles.len()).for_each(|at| change(&|one| one.toggles[at] ^= true));
        for (at, control) in signature.controls.iter().enumerate() {
            let values = (0..control.values.len() as u8).map(Some).chain([None]);
            values.for_each(|value| change(&|one| one.controls[at] = value));
        }
        (0..signature.states.len() as u8).for_each(|next| change(&|one| one.next = next));
    }
    let mut rng = Rng::new([7, 0, 0, 0]);
    while changes.len() > most {
        changes.swap_remove(rng.below(changes.len() as u32) as usize);
    }
    let mut fates = Fates::default();
    let statement = proved(&whole).unwrap().statement();
    for (row, action) in &changes {
        let mut mutant = whole.clone();
        mutant["rows"][*row]["action"] = json_of(action);
        match proved(&mutant) {
            Err(_) => {
                fates.rejected += 1;
                continue;
            }
            Ok(report) if report.statement() != statement => {
                assert!(report.statement().contains("Steps write "), "{}", report.statement());
                fates.other += 1;
                continue;
            }
            Ok(_) => {}
        }
        mutant["rows"].as_array_mut().unwrap().remove(*row);
        if proved(&mutant).is_ok() {
            fates.never += 1;
        } else if ends_well(&machine, (&table[*row].0, action)) {
            fates.right += 1;
        } else {
            fates.endless += 1;
        }
    }
    fates
}

/// An action as the checker reads it.
fn json_of(action: &Action) -> Value {
    let writes = |writes: &[Write]| -> Vec<i16> {
        let number = |write: &Write| match *write {
            Write::Keep => -2,
            Write::Nil => -1,
            Write::Node(node) => i16::from(node),
        };
        writes.iter().map(number).collect()
    };
    let flags = |flags: &[bool]| flags.iter().map(|&flag| u8::from(flag)).collect::<Vec<_>>();
    let controls: Vec<i16> = action.controls.iter().map(|one| one.map_or(-2, i16::from)).collect();
    json!({
        "pointers": writes(&action.pointers), "registers": writes(&action.registers),
        "toggles": flags(&action.toggles), "marks": flags(&action.marks),
        "controls": controls, "next": action.next,
    })
}

/// Runs a program with another action for one view. What the checker has proved must hold: no
/// view is met that is not in the table, no clause is violated, and the answers of a union-find or
/// a forest are right about the memory before. What remains is that an operation may not end.
fn ends_well(machine: &Machine, (changed, action): (&View, &Action)) -> bool {
    let connected = |store: &Store, calls: &[u32]| {
        let root = |mut node: u32| {
            while let Some(up) = store.pointer(node, 0) {
                node = up;
            }
            node
        };
        calls.len() == 2 && root(calls[0]) == root(calls[1])
    };
    for sequence in 0..60 {
        let nodes = 2 + sequence as usize % 5;
        let mut runs = Exploration::new(machine.program(), nodes, 3, sequence);
        for _ in 0..30 {
            let call = runs.call();
            let before = connected(&runs.store, &call.arguments);
            let mut end = 0;
            let mut policy = |view: &View| {
                let done =
                    if view == changed { action.clone() } else { machine.action(view).unwrap() };
                end = done.next;
                done
            };
            match machine.run(&mut runs.store, call.operation, &call.arguments, &mut policy) {
                Err(Error::Endless { .. }) => return false,
                Ok(Outcome::Answer(answer)) if machine.signature().pointers == ["up"] => {
                    // `yes` says that nodes were connected, but in a union that they were not.
                    let name = &machine.signature().operations[call.operation].name;
                    assert_eq!(
                        answer != before,
                        name.ends_with("union"),
                        "{name}: {}",
                        changed.picture(machine.signature())
                    );
                }
                Ok(Outcome::Refused(_)) => continue,
                other => _ = other.unwrap(),
            }
            let whole = runs.store.whole(machine.signature(), end).unwrap();
            assert_eq!(machine.clauses().violated(&whole), None);
        }
    }
    true
}

/// Every single change of an action of a union-find, and some of those of the others: a pointer, a toggle, a register, a field of the controller or the next state. Against the network
/// of a certified machine all are rejected, as it decides otherwise; here the table is on its own.
#[test]
fn mutants_of_actions() {
    let expected = [
        ("dsu", usize::MAX, [386, 57, 0, 27, 144]),
        ("forest", 300, [222, 34, 0, 7, 37]),
        ("heap", 300, [180, 0, 0, 2, 118]),
        ("lct", 60, [41, 0, 0, 0, 19]),
        ("splay", 8, [8, 0, 0, 0, 0]),
    ];
    for (name, most, [rejected, other, never, endless, right]) in expected {
        let fates = Fates { rejected, other, never, endless, right };
        assert_eq!(mutants(name, most), fates, "{name}");
    }
}
