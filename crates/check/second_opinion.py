"""A second opinion on proofs, by z3: the obligations that `pgn check` verifies, as SMT-LIB.

    pip install z3-solver
    python crates/check/second_opinion.py runs/lct-machine/proof.safetensors
    python crates/check/second_opinion.py proof.safetensors --rows 40 --smt2 DIR
    python crates/check/second_opinion.py runs/*/proof.safetensors --json results/machines/second-opinion.json

Written from docs/machines.md and shares nothing with the checker. Nodes are an uninterpreted sort,
so a memory of any size is a model; every axiom, clause and definition is a formula with universal
quantifiers. Checked are induction, acyclicity, the initial memory, the start of operations and the
answers; `overwritten` are pointers of the order that must be nil because a step writes them unread,
which `pgn check` looks up and does not count; `network` are rows on which the network, computed in
double precision with NumPy, decides as the table does. Coverage (a finite enumeration) and bounds on
rounding errors are not. The exit code is 0 if z3 proves everything, and 1 otherwise.
"""

import argparse
import json
import random
import re
import sys
import time
from pathlib import Path

import z3

NOTHING, NIL = -2, -1
NODE = z3.DeclareSort("Node")
NIL_NODE = z3.Const("nil", NODE)
Bool = z3.BoolSort()


def proof_of(path):
    """The JSON text of a proof: a file of its own, or in the metadata of a safetensors file."""
    contents = Path(path).read_bytes()
    if path.endswith(".json"):
        return json.loads(contents)
    header = json.loads(contents[8 : 8 + int.from_bytes(contents[:8], "little")])
    return json.loads(header["__metadata__"]["proof"])


class Clause:
    """`states: a and b -> c or d`: in which states, the literals of the disjunction, an effect."""

    def __init__(self, text, names):
        self.text, self.effect, self.order = text, None, None
        states, body = None, text
        if ":" in text and '"' not in text.split(":")[0]:
            head, body = text.split(":", 1)
            negated = head.strip().startswith("except ")
            listed = [one.strip() for one in head.strip().removeprefix("except ").split(",")]
            states = (negated, {names["state"].index(one) for one in listed})
        self.words = re.findall(r'"[^"]*"|->|!=|[\w]+(?:-\w+)*|[.,=<~|]', body)
        self.names, self.at, self.literals = names, 0, []
        if self.words[0] in ("acyclic", "tree") and self.words[0] not in names["register"]:
            self.order = (self.words[0], [one for one in self.words[1:] if one != ","])
            self.states = set()
            return
        if "->" in self.words:
            self.literals.append((False, self.literal()))
            while self.next() == "and":
                self.literals.append((False, self.literal()))
        if self.peek() in ("join", "split"):
            kind = self.next()
            self.effect = (kind, [self.next() for _ in range(2 if kind == "join" else 1)])
        else:
            self.literals.append((True, self.literal()))
            while self.peek() == "or":
                self.next()
                self.literals.append((True, self.literal()))
        self.literals = [(sign == positive, atom) for sign, (positive, atom) in self.literals]
        registers = names["register"]
        self.variables = sorted(
            {t for _, a in self.literals if a[0] != "control" for t in a[1] if t != "nil"}
            - set(registers)
        )
        about_registers = any(
            a[0] == "control" or any(t in registers for t in a[1]) for _, a in self.literals
        )
        self.memory = not about_registers and self.effect is None
        default = {
            s for s, halts in enumerate(names["halts"]) if self.memory or not halts
        }
        if states is None:
            self.states = default
        else:
            self.states = default - states[1] if states[0] else states[1]

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else None

    def next(self):
        self.at += 1
        return self.words[self.at - 1] if self.at <= len(self.words) else None

    def literal(self):
        """(positive, atom); an atom is (kind, nodes, what)."""
        positive = self.peek() != "not"
        if not positive:
            self.next()
        first, names = self.next(), self.names
        if first in names["control"]:
            equal = self.next() == "="
            values = [self.next().strip('"')]
            while self.peek() == "|":
                self.next()
                values.append(self.next().strip('"'))
            control = names["control"].index(first)
            numbers = [names["values"][control].index(value) for value in values]
            return positive == equal, ("control", [], (control, numbers))
        if self.peek() == ".":
            self.next()
            field, equal, value = self.next(), self.next() == "=", self.next()
            if field in names["bit"]:
                bit = names["bit"].index(field)
                return (positive == equal) == (value == "1"), ("bit", [first], bit)
            pointer = names["pointer"].index(field)
            return positive == equal, ("field", [first, value], pointer)
        relation, second = self.next(), self.next()
        kind = {"=": "equal", "!=": "equal", "reaches": "reaches", "<": "less", "~": "same"}
        return positive == (relation != "!="), (kind[relation], [first, second], None)


class Memory:
    """Relations before a step, and after it in terms of those before."""

    def __init__(self, proof, names):
        self.proof, self.names = proof, names
        relation = lambda name: z3.Function(name, NODE, NODE, Bool)  # noqa: E731
        self.field = [relation(f"field_{name}") for name in names["pointer"]]
        self.bit = [z3.Function(f"bit_{name}", NODE, Bool) for name in names["bit"]]
        self.below, self.less, self.same = relation("below"), relation("less"), relation("same")
        self.register = [z3.Const(f"register_{name}", NODE) for name in names["register"]]
        self.control = [z3.Int(f"control_{name}") for name in names["control"]]

    def copy(self):
        other = object.__new__(Memory)
        other.__dict__ = {
            key: list(value) if isinstance(value, list) else value
            for key, value in self.__dict__.items()
        }
        return other

    def atom(self, atom, nodes, down):
        kind, terms, what = atom
        if kind == "control":
            control, values = what
            return z3.Or([self.control[control] == value for value in values])
        at = [nodes[term] for term in terms]
        there = z3.And([one != NIL_NODE for one in at])
        match kind:
            case "equal":
                return at[0] == at[1]
            case "field":
                return z3.And(at[0] != NIL_NODE, self.field[what](at[0], at[1]))
            case "bit":
                return z3.And(there, self.bit[what](at[0]))
            case "reaches":
                return z3.And(there, self.below(*(reversed(at) if down else at)))
            case "less":
                return z3.And(there, self.less(*at))
            case "same":
                return z3.And(there, self.same(*at))

    def holds(self, clause, down, fresh=None):
        """The clause of this memory; its variables are bound, or `fresh` constants."""
        bound = fresh or [z3.Const(f"v_{name}", NODE) for name in clause.variables]
        nodes = dict(zip(clause.variables, bound)) | {"nil": NIL_NODE}
        nodes |= dict(zip(self.names["register"], self.register))
        parts = [one == NIL_NODE for one in bound]
        for positive, atom in clause.literals:
            formula = self.atom(atom, nodes, down)
            parts.append(formula if positive else z3.Not(formula))
        body = z3.Or(parts)
        return z3.ForAll(bound, body) if bound and fresh is None else body


class Opinion:
    def __init__(self, proof):
        signature = proof["signature"]
        self.proof = proof
        self.names = {
            "state": [one["name"] for one in signature["states"]],
            "halts": [one.get("halt") is not None for one in signature["states"]],
            "pointer": signature["pointers"],
            "bit": signature["bits"],
            "register": signature["registers"],
            "control": [one["name"] for one in signature["controls"]],
            "values": [one["values"] for one in signature["controls"]],
        }
        clauses = [Clause(text, self.names) for text in proof["clauses"]]
        orders = [one.order for one in clauses if one.order]
        self.order = orders[0] if orders else None
        self.down = self.order is not None and self.order[0] == "tree"
        self.along = [self.names["pointer"].index(f) for f in self.order[1]] if self.order else []
        self.clauses = [one for one in clauses if not one.order]
        if self.down:
            fields = self.order[1]
            for place, one in enumerate(fields):
                for other in fields[place:]:
                    text = f"p.{one} = c and q.{other} = c -> p = q"
                    self.clauses.append(Clause(text, self.names))
                    if one != other:
                        text = f"p.{one} = c -> p.{other} != c"
                        self.clauses.append(Clause(text, self.names))
        self.memory = Memory(proof, self.names)
        halting = {state for state, halts in enumerate(self.names["halts"]) if halts}
        self.idle = [one for one in self.clauses if one.memory and halting <= one.states]
        self.counts, self.refuted, self.files = {}, [], None
        self.read_twice()

    def read_twice(self):
        """Refuses effects that can happen at once, and preconditions that no call can look up."""
        effects = [one for one in self.clauses if one.effect]
        given = lambda one: {a[2][0]: set(a[2][1]) for p, a in one.literals if not p}  # noqa: E731
        for place, one in enumerate(effects):
            for other in effects[:place]:
                a, b = given(one), given(other)
                apart = any(not a[control] & b[control] for control in a.keys() & b.keys())
                if one.states & other.states and not apart:
                    self.refuted.append(f"effects: `{one.text}` and `{other.text}` can happen at once")
        registers = self.names["register"]
        for operation in self.proof["signature"]["operations"]:
            local = {registers[place] for place in operation["arguments"]} | {"nil"}
            for text in operation["requires"]:
                [(_, (kind, terms, _)), *more] = Clause(text, self.names).literals
                if more or kind not in ("equal", "field", "bit") or not set(terms) <= local:
                    self.refuted.append(f"start: `{text}` cannot be looked up")

    def axioms(self):
        m = self.memory
        x, y, w = z3.Consts("x y w", NODE)
        there = lambda *nodes: [node != NIL_NODE for node in nodes]  # noqa: E731
        every = lambda nodes, given, then: z3.ForAll(nodes, z3.Implies(z3.And(given), then))  # noqa: E731
        for field in m.field:
            yield every([x, y, w], [field(x, y), field(x, w)], y == w)
        yield every([x], there(x), m.below(x, x))
        yield every([x, y, w], [m.below(x, y), m.below(y, w)], m.below(x, w))
        yield every([x, y], [m.below(x, y), m.below(y, x)], x == y)
        yield every([x, y, w], [m.below(x, y), m.below(x, w)], z3.Or(m.below(y, w), m.below(w, y)))
        yield every([x, y], [m.below(x, y)], z3.And(there(x, y)))
        for field in self.along:
            edge = m.field[field]
            low, high = (y, x) if self.down else (x, y)
            given = [edge(x, y), *there(x, y)]
            yield every([x, y], given, z3.And(x != y, m.below(low, high)))
            rest = [*given, m.below(low, w), w != low]
            yield every([x, y, w], rest, m.below(high, w))
            if not self.down:
                yield every([x, w], [edge(x, NIL_NODE), m.below(x, w)], x == w)
        yield every([x], [], z3.Not(m.less(x, x)))
        yield every([x, y, w], [m.less(x, y), m.less(y, w)], m.less(x, w))
        yield every([x, y, w], [m.less(x, w)], z3.Or(m.less(x, y), m.less(y, w)))
        yield every([x], [], m.same(x, x))
        yield every([x, y], [m.same(x, y)], m.same(y, x))
        yield every([x, y, w], [m.same(x, y), m.same(y, w)], m.same(x, w))
        for control, values in zip(m.control, self.names["values"]):
            yield z3.And(0 <= control, control < len(values))

    def prove(self, solver, goal, kind, what):
        """Whether the negation of a goal has no model."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        solver.push()
        solver.add(z3.Not(goal))
        if self.files:
            number = sum(self.counts.values())
            (self.files / f"{number:05}-{kind}.smt2").write_text(solver.to_smt2())
        verdict = solver.check()
        solver.pop()
        if verdict != z3.unsat:
            self.refuted.append(f"{kind}: {what} ({verdict})")
        return verdict == z3.unsat

    def prove_clauses(self, solver, after, clauses, kind, where):
        for clause in clauses:
            fresh = [z3.Const(f"goal_{name}", NODE) for name in clause.variables]
            self.prove(solver, after.holds(clause, self.down, fresh or []), kind, f"{where}: {clause.text}")

    def solver(self, clauses):
        solver = z3.Solver()
        solver.set("timeout", 120_000)
        solver.add(*self.axioms())
        solver.add(*(self.memory.holds(one, self.down) for one in clauses))
        return solver

    def start(self):
        solver = z3.Solver()
        x, y = z3.Consts("x y", NODE)
        m = self.memory
        solver.add(*self.axioms())
        for field in m.field:
            solver.add(z3.ForAll([x, y], z3.Implies(x != NIL_NODE, field(x, y) == (y == NIL_NODE))))
        for bit in m.bit:
            solver.add(z3.ForAll([x], z3.Not(bit(x))))
        solver.add(z3.ForAll([x, y], z3.Implies(m.below(x, y), x == y)))
        solver.add(z3.ForAll([x, y], z3.Implies(m.same(x, y), x == y)))
        self.prove_clauses(solver, m, self.idle, "start", "initial memory")
        for operation in self.proof["signature"]["operations"]:
            solver = self.solver(self.idle)
            given = [Clause(text, self.names) for text in operation["requires"]]
            solver.add(*(m.holds(one, self.down) for one in given))
            for register, node in enumerate(m.register):
                argument = register in operation["arguments"]
                solver.add(node != NIL_NODE if argument else node == NIL_NODE)
            values = dict(operation["controls"])
            solver.add(*(c == values.get(place, 0) for place, c in enumerate(m.control)))
            goals = [one for one in self.clauses if operation["entry"] in one.states and not one.effect]
            self.prove_clauses(solver, m, goals, "start", operation["name"])

    def at(self, view):
        """A solver that knows the clauses of a view's state and what it shows, and its nodes."""
        m = self.memory
        here = [one for one in self.clauses if view["state"] in one.states and not one.effect]
        solver = self.solver(here)
        nodes = [z3.Const(f"node_{place}", NODE) for place in range(view["nodes"])]
        node = lambda to: NIL_NODE if to == NIL else nodes[to]  # noqa: E731
        solver.add(z3.Distinct([NIL_NODE, *nodes]))
        fields, bits = len(m.field), len(m.bit)
        for place, to in enumerate(view["pointers"]):
            if to != NOTHING:
                solver.add(m.field[place % fields](nodes[place // fields], node(to)))
        for place, value in enumerate(view["bits"]):
            if value != NOTHING:
                solver.add(m.bit[place % bits](nodes[place // bits]) == bool(value))
        for register, to in enumerate(view["registers"]):
            if to != NOTHING:
                solver.add(m.register[register] == node(to))
        for control, value in enumerate(view["controls"]):
            if value != NOTHING:
                solver.add(m.control[control] == value)
        for a, b, less in view["less"]:
            solver.add(m.less(nodes[a], nodes[b]) == bool(less))
        return solver, nodes

    def occurs(self, view):
        """Whether the clauses allow a memory with this view."""
        return self.at(view)[0].check() == z3.sat

    def row(self, number, row):
        view, action, m = row["view"], row["action"], self.memory
        where = f"row {number}, {self.names['state'][view['state']]}"
        solver, nodes = self.at(view)
        node = lambda to: NIL_NODE if to == NIL else nodes[to]  # noqa: E731
        fields, bits = len(m.field), len(m.bit)
        after = m.copy()
        x, y = z3.Consts("x y", NODE)
        for register, to in enumerate(action["registers"]):
            if to != NOTHING:
                after.register[register] = node(to)
        for control, value in enumerate(action["controls"]):
            if value != NOTHING:
                after.control[control] = z3.IntVal(value)
        written = {p: to for p, to in enumerate(action["pointers"]) if to != NOTHING}
        for field in range(fields):
            new = {p // fields: to for p, to in written.items() if p % fields == field}
            if new:
                now = z3.Function(f"after_{self.names['pointer'][field]}", NODE, NODE, Bool)
                cases = [z3.And(x == nodes[n], y == node(to)) for n, to in new.items()]
                kept = z3.And([x != nodes[n] for n in new] + [m.field[field](x, y)])
                solver.add(z3.ForAll([x, y], now(x, y) == z3.Or(kept, *cases)))
                after.field[field] = now
        for bit in range(bits):
            toggled = [nodes[p // bits] for p, t in enumerate(action["toggles"]) if t and p % bits == bit]
            if toggled:
                now = z3.Function(f"after_{self.names['bit'][bit]}", NODE, Bool)
                flips = z3.Or([x == one for one in toggled])
                solver.add(z3.ForAll([x], now(x) == z3.Xor(m.bit[bit](x), flips)))
                after.bit[bit] = now
        cuts, edges = [], []
        for place, to in written.items():
            if place % fields not in self.along:
                continue
            this, old = nodes[place // fields], view["pointers"][place]
            if not self.down:
                cuts.append(this)
            elif old >= 0:
                cuts.append(nodes[old])
            elif old == NOTHING:
                self.prove(solver, m.field[place % fields](this, NIL_NODE), "overwritten", where)
            if to >= 0:
                edges.append((nodes[to], this) if self.down else (this, nodes[to]))
        below = m.below
        for step, edit in enumerate([*cuts, *edges]):
            now = z3.Function(f"below_{step}", NODE, NODE, Bool)
            if step < len(cuts):
                body = z3.And(below(x, y), z3.Or(z3.Not(below(x, edit)), below(y, edit)))
            else:
                low, high = edit
                self.prove(solver, z3.Not(below(high, low)), "acyclic", f"{where}: a pointer")
                body = z3.Or(below(x, y), z3.And(below(x, low), below(high, y)))
            solver.add(z3.ForAll([x, y], now(x, y) == body))
            below = now
        after.below = below
        for place, clause in enumerate(self.clauses):
            if not clause.effect or action["next"] not in clause.states:
                continue
            when = z3.And([z3.Not(after.atom(a, {}, False)) if p else after.atom(a, {}, False) for p, a in clause.literals])
            kind, terms = clause.effect
            at = [after.register[self.names["register"].index(term)] for term in terms]
            was, now = after.same, z3.Function(f"same_{place}", NODE, NODE, Bool)
            if kind == "join":
                s = m.same
                u, v = at
                both = z3.Or(z3.And(s(x, u), s(y, v)), z3.And(s(x, v), s(y, u)))
                body = z3.Or(was(x, y), z3.And(when, both))
            else:
                apart = m.below(x, at[0]) != m.below(y, at[0])
                body = z3.And(was(x, y), z3.Or(z3.Not(when), z3.Not(apart)))
            solver.add(z3.ForAll([x, y], now(x, y) == body))
            after.same = now
        goals = [one for one in self.clauses if action["next"] in one.states and not one.effect]
        halts = self.names["halts"][action["next"]]
        # What an answer says of sets is about those before the operation changes them.
        answered = after.copy()
        answered.same = m.same
        for goal in goals:
            if halts and not goal.memory:
                self.prove_clauses(solver, answered, [goal], "answers", where)
            else:
                self.prove_clauses(solver, after, [goal], "induction", where)


def decisions(path):
    """Decisions of the network of a proof that are not the table's, by row, in double precision."""
    import numpy as np

    contents = Path(path).read_bytes()
    start = 8 + int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8:start])
    proof = json.loads(header.pop("__metadata__")["proof"])
    weights = {}
    for name, one in header.items():
        begin, end = one["data_offsets"]
        values = np.frombuffer(contents[start + begin : start + end], "<f4")
        weights[name] = values.reshape(one["shape"]).astype(np.float64)
    names, k = proof["signature"], proof["network"]["k"]
    fields, bits, registers = (len(names[one]) for one in ("pointers", "bits", "registers"))
    sizes = [len(one["values"]) for one in names["controls"]]
    common = 1 + len(names["states"]) + sum(sizes) + len(sizes)
    of_node, between = common + 2 * fields + 3 * bits + registers, 1 + 2 * fields + 4
    messages = weights["message.weight"].reshape(-1, k, k)
    wrong = {}
    for number, row in enumerate(proof["rows"]):
        view, action = row["view"], row["action"]
        n = view["nodes"]
        controller = of_node + common + 2 * registers
        on = np.zeros((n + 1, controller))
        shared, place = [0, 1 + view["state"]], 1 + len(names["states"])
        for size, value in zip(sizes, view["controls"]):
            shared.append(place + (size if value == NOTHING else value))
            place += size + 1
        on[:n, shared] = 1
        on[n, [of_node + one for one in shared]] = 1
        related = np.zeros((n, n, between))
        related[range(n), range(n), 0] = 1
        held = np.zeros((n, registers))
        for place, to in enumerate(view["pointers"]):
            node, field = divmod(place, fields)
            if to < 0:
                on[node, common + 2 * field + (to == NOTHING)] = 1
            else:
                related[node, to, 1 + field] = related[to, node, 1 + fields + field] = 1
        for place, bit in enumerate(view["bits"]):
            on[place // bits, common + 2 * fields + 3 * (place % bits) + (2 if bit < 0 else bit)] = 1
        for register, to in enumerate(view["registers"]):
            if to < 0:
                on[n, of_node + common + 2 * register + (to == NOTHING)] = 1
            else:
                on[to, common + 2 * fields + 3 * bits + register] = held[to, register] = 1
        for a, b, less in view["less"]:
            place = 1 + 2 * fields + (0 if less else 2)
            related[a, b, place] = related[b, a, place + 1] = 1
        hears = [(r, i, j) for i, j, r in np.argwhere(related)]
        hears += [(between + r, i, n) for i, r in np.argwhere(held)]
        hears += [(between + registers + 1 + r, n, i) for i, r in np.argwhere(held)]
        hears += [(between + registers, i, n) for i in range(n)]
        hears += [(between + 2 * registers + 1, n, i) for i in range(n)]
        hears.append((between + 2 * registers + 2, n, n))
        z = on @ weights["encoder.weight"].T
        x = np.clip(z, 0, proof["network"]["cap"])
        for _ in range(proof["network"]["rounds"]):
            heard = z.copy()
            for relation, i, j in hears:
                heard[i] += messages[relation] @ x[j]
            x = np.clip(heard, 0, proof["network"]["cap"])
        out = x[:n] @ weights["node.weight"].T + weights["node.bias"]
        top = weights["controller.weight"] @ x[n] + weights["controller.bias"]
        keys = out[:, -k:] / np.sqrt(k)

        def choose(scores, biases):
            return int(np.argmax([*scores[k : k + 2], *(keys @ scores[:k] + biases)])) - 2

        width = k + 2 + between + registers
        found = {"pointers": [], "toggles": [], "marks": [], "registers": [], "controls": []}
        for node in range(n):
            for field in range(fields):
                part = out[node, field * width : (field + 1) * width]
                biases = related[node] @ part[k + 2 : k + 2 + between] + held @ part[k + 2 + between :]
                found["pointers"].append(choose(part, biases))
            rest = out[node, fields * width :]
            found["toggles"] += [int(one > 0) for one in rest[:bits]]
            found["marks"] += [int(one > 0) for one in rest[bits : bits + len(names["marks"])]]
        for register in range(registers):
            part = top[register * (k + 2 + registers) :][: k + 2 + registers]
            found["registers"].append(choose(part, held @ part[k + 2 :]))
        place = registers * (k + 2 + registers)
        for size in sizes:
            best = int(np.argmax(top[place : place + size + 1]))
            found["controls"].append(best - 1 if best else NOTHING)
            place += size + 1
        found["next"] = int(np.argmax(top[place:]))
        parts = [part for part in found if found[part] != action[part]]
        if parts:
            wrong[number] = parts
    return wrong


def opinion(proof, rows=None, files=None):
    """All that z3 does not prove, and how many obligations of each kind there were.

    `rows` are numbers of rows, or how many of them are drawn.
    """
    one = Opinion(proof)
    one.files = files
    one.start()
    numbers = range(len(proof["rows"]))
    if isinstance(rows, list):
        numbers = rows
    elif rows is not None and rows < len(numbers):
        numbers = sorted(random.Random(0).sample(numbers, rows))
    for number in numbers:
        one.row(number, proof["rows"][number])
    return one.refuted, one.counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("proofs", nargs="+", help="proof.safetensors, or the JSON text in it")
    parser.add_argument("--rows", type=int, help="only so many rows of the table, drawn at random")
    parser.add_argument("--smt2", type=Path, help="write every obligation of a proof into this folder")
    parser.add_argument("--json", type=Path, help="write the outcome into this file")
    arguments = parser.parse_args()
    if arguments.smt2:
        arguments.smt2.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for path in arguments.proofs:
        proof, begin = proof_of(path), time.process_time()
        refuted, counts = opinion(proof, arguments.rows, arguments.smt2)
        if not path.endswith(".json"):
            wrong = decisions(path)
            refuted += [f"network: row {row} decides otherwise on {parts}" for row, parts in wrong.items()]
            counts["network"] = len(proof["rows"])
        for line in refuted[:20]:
            print(line)
        name, total = proof["signature"]["name"], sum(counts.values())
        listed = ", ".join(f"{count} of {kind}" for kind, count in counts.items())
        print(f"{name}: z3 does not prove {len(refuted)} of {total} obligations ({listed})", flush=True)
        outcomes.append(
            {"program": f"{name} (version {proof['signature']['version']})", "refuted": len(refuted)}
            | {"obligations": total, **counts, "seconds": round(time.process_time() - begin, 1)}
            | {"z3": z3.get_version_string()}
        )
        if arguments.json:
            arguments.json.write_text(json.dumps(outcomes, indent=1) + "\n")
    sys.exit(1 if any(one["refuted"] for one in outcomes) else 0)


if __name__ == "__main__":
    main()
