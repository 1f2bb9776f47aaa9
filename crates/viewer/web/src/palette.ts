/** A model has the same line in every chart and figure: see `MODELS` in the figures crate. */

const KNOWN = new Set(['gnn', 'deepsets', 'pgn-nm', 'pgn', 'pgn-ptrs', 'pgn-asym', 'pgn-mo', 'supgnn', 'dgm', 'oracle-ptrs', 'pgn-free', 'pgn-free-2', 'pgn-nm-free', 'pgn-asym-free', 'pgn-ptrs-free', 'pgn-exact', 'pgn-machine']);

/** The class of a model's line, or of the index-th line of something else. */
export function lineClass(name: string, index: number): string {
  return KNOWN.has(name) ? `line model-${name}` : `line line-${index % 10}`;
}
