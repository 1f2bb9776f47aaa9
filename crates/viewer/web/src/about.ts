/** What data structures and models are, in a few words. */

const STRUCTURES: Record<string, string> = {
  dsu: 'Disjoint-set union',
  'dsu-ordered': 'Disjoint-set union, ordered',
  forest: 'Rooted forest',
  lct: 'Link/cut tree',
};

/** The name of a data structure; a task of somebody's own goes by its own name. */
export function structureName(task: string): string {
  return STRUCTURES[task] ?? task;
}

const MODELS: Record<string, string> = {
  gnn: 'A graph network on the complete graph. It has neither pointers nor masks.',
  deepsets: 'Every node sees only itself. It has neither pointers nor masks.',
  pgn: 'A pointer graph network: messages travel along pointers that the network sets itself.',
  'pgn-free': 'A pointer graph network trained on its own masks and pointers instead of the true ones.',
  'pgn-nm': 'A pointer graph network without masks: every node sets its pointer after every operation.',
  'pgn-asym': 'A pointer graph network whose messages travel only from a node to where it points.',
  'pgn-mo': 'A pointer graph network trained on answers and masks, without supervision of pointers.',
  supgnn: 'A graph network on the complete graph, trained to predict pointers and masks that it does not use.',
  dgm: 'A differentiable graph module: pointers are sampled, and learnt from a reward.',
  'oracle-ptrs': 'A graph network that is given the true pointers, in tests too.',
  'pgn-ptrs': 'A graph network that is given the pointers of a trained pgn.',
  'pgn-exact': 'A pointer graph network iterated within each operation until it has converged.',
  'pgn-machine': 'A network that executes the algorithm micro-step by micro-step.',
};

/** What a model is, in a sentence. */
export function aboutModel(model: string): string {
  return MODELS[model] ?? '';
}
