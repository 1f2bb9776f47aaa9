//! A program as the checker of proofs reads it: names, clauses, lenses and the table.

use serde_json::{Value, json};

use crate::{Action, Condition, Machine, OperationSignature, Seen, View, Write};

/// Nothing was read, or nothing is written.
const NOTHING: i16 = -2;
/// No node.
const NIL: i16 = -1;

impl Machine {
    /// What is to be proved of a network with these settings; `docs/reference.md` has the format.
    ///
    /// The table is the program's on all consistent views. Undefined ones are left out: that they
    /// do not occur is for the checker to find out.
    pub fn proof(&self, network: Value) -> Value {
        let signature = self.signature();
        let operations: Vec<Value> = signature
            .operations
            .iter()
            .map(|operation| {
                let requires: Vec<String> = operation
                    .requires
                    .iter()
                    .map(|one| self.condition(operation, one.holds))
                    .collect();
                json!({
                    "name": operation.name,
                    "entry": operation.entry,
                    "arguments": operation.arguments,
                    "controls": operation.controls,
                    "requires": requires,
                })
            })
            .collect();
        json!({
            "signature": {
                "name": signature.name,
                "version": signature.version,
                "pointers": signature.pointers,
                "bits": signature.bits,
                "marks": signature.marks,
                "registers": signature.registers,
                "controls": signature.controls,
                "states": signature.states,
                "operations": operations,
            },
            "clauses": self.program().clauses(),
            "lenses": self.lenses().iter().map(|lens| &lens.reads).collect::<Vec<_>>(),
            "rows": self.consistent().iter().map(row).collect::<Vec<_>>(),
            "network": network,
        })
    }

    /// A precondition as a clause.
    fn condition(&self, operation: &OperationSignature, condition: Condition) -> String {
        let signature = self.signature();
        let argument = |argument: u8| {
            let register = operation.arguments[usize::from(argument)];
            &signature.registers[usize::from(register)]
        };
        match condition {
            Condition::Different(a, b) => format!("{} != {}", argument(a), argument(b)),
            Condition::Nil(a, field) => {
                format!("{}.{} = nil", argument(a), signature.pointers[usize::from(field)])
            }
            Condition::Bit(a, bit, set) => {
                let bit = &signature.bits[usize::from(bit)];
                format!("{}.{bit} = {}", argument(a), u8::from(set))
            }
        }
    }
}

fn row((view, action): &(View, Action)) -> Value {
    let seen = |seen: &Seen| match *seen {
        Seen::Unread => NOTHING,
        Seen::Nil => NIL,
        Seen::Node(node) => i16::from(node),
    };
    let write = |write: &Write| match *write {
        Write::Keep => NOTHING,
        Write::Nil => NIL,
        Write::Node(node) => i16::from(node),
    };
    let value = |value: &Option<u8>| value.map_or(NOTHING, i16::from);
    let flags = |flags: &[bool]| flags.iter().map(|&flag| u8::from(flag)).collect::<Vec<_>>();
    let less = view.comparisons.iter().map(|one| (one.a, one.b, u8::from(one.less)));
    json!({
        "view": {
            "state": view.state,
            "nodes": view.nodes,
            "registers": view.registers.iter().map(seen).collect::<Vec<_>>(),
            "controls": view.controls.iter().map(value).collect::<Vec<_>>(),
            "pointers": view.pointers.iter().map(seen).collect::<Vec<_>>(),
            "bits": view.bits.iter().map(|bit| bit.map_or(NOTHING, i16::from)).collect::<Vec<_>>(),
            "less": less.collect::<Vec<_>>(),
        },
        "action": {
            "pointers": action.pointers.iter().map(write).collect::<Vec<_>>(),
            "toggles": flags(&action.toggles),
            "marks": flags(&action.marks),
            "registers": action.registers.iter().map(write).collect::<Vec<_>>(),
            "controls": action.controls.iter().map(value).collect::<Vec<_>>(),
            "next": action.next,
        },
    })
}
