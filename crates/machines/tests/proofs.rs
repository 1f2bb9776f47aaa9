//! Tables of programs, proved by the checker, and mutants of them, which it rejects.

use pgn_check::{Report, check_table};
use pgn_machines::{Machine, programs};
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

/// Leaves out each clause in turn: how many are needed.
fn needed(name: &str) -> (usize, usize) {
    let whole = proof(name);
    let clauses = whole["clauses"].as_array().unwrap().clone();
    let without = |at: usize| {
        let mut proof = whole.clone();
        proof["clauses"].as_array_mut().unwrap().remove(at);
        proved(&proof).is_err()
    };
    ((0..clauses.len()).filter(|&at| without(at)).count(), clauses.len())
}

#[test]
fn clauses_that_are_needed() {
    // All but `splay`, of which each proof takes seconds.
    for name in ["dsu", "forest", "heap", "lct"] {
        let (needed, clauses) = needed(name);
        println!("{name}: {needed} of {clauses} clauses are needed");
        assert!(2 * needed > clauses, "{name}: {needed} of {clauses}");
    }
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

/// Every single change of a pointer or register write of a union-find. What is accepted has a view
/// that cannot occur, or moves registers that nothing depends on any more: it keeps the sets and
/// answers right. That it is not the program is for the network's part of a proof to notice.
#[test]
fn mutants_of_actions() {
    let whole = proof("dsu");
    let (mut tried, mut accepted) = (0, Vec::new());
    for row in 0..whole["rows"].as_array().unwrap().len() {
        let nodes = whole["rows"][row]["view"]["nodes"].as_i64().unwrap();
        for part in ["pointers", "registers"] {
            let writes = whole["rows"][row]["action"][part].as_array().unwrap().clone();
            for (at, write) in writes.iter().enumerate().filter(|(_, write)| **write != -2) {
                for other in (-2..nodes).map(Value::from).filter(|other| other != write) {
                    let mut mutant = whole.clone();
                    mutant["rows"][row]["action"][part][at] = other.clone();
                    tried += 1;
                    if proved(&mutant).is_ok() {
                        let view = &whole["rows"][row]["view"];
                        accepted.push(format!("{part} {at} {write} -> {other}: {view}"));
                    }
                }
            }
        }
    }
    assert_eq!((accepted.len(), tried), (9, 51), "{}", accepted.join("\n"));
}
