/** The algorithms in pseudo-code, by the name of their program. */

import { BY_RANK, BY_SIZE, DSU, KRUSKAL, ORDERED } from './programs/dsu';
import { FOREST } from './programs/forest';
import { HEAP } from './programs/heap';
import { LCT } from './programs/lct';
import type { Program } from './programs/program';
import { SPLAY } from './programs/splay';

const PROGRAMS: Record<string, Program> = {
  dsu: DSU, 'dsu-by-size': BY_SIZE, 'dsu-by-rank': BY_RANK, 'dsu-ordered': ORDERED, kruskal: KRUSKAL, lct: LCT, forest: FOREST, splay: SPLAY, heap: HEAP,
};

/** A program that the page has no text for is told by the names of its states. */
export function textOf(program: string): Program {
  return PROGRAMS[program] ?? { code: [], line: () => 0, tell: () => '' };
}
