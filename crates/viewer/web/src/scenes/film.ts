/** Scene 2: one operation, from inside. */

import * as api from '../api';
import { announce, choice, h, notice } from '../dom';
import { type Film, FilmView, STAGES, type Shape, tellNode } from '../film';
import { type Frame, unroll } from '../history';
import { MiniForest } from '../mini-forest';
import { saveButtons } from '../save-picture';
import { type Scene, frame } from './scene';

/** A test sequence, and an operation in it that moves some pointers, all of them rightly. */
const NODES = 11;
const SEQUENCE = 17;
const FIRST = 9;
/** Ticks of the slider for each stage, and how long each lasts. */
const TICKS = 20;
const PAUSE = 70;
/** Where a stage is worth looking at. */
const SEEN = 0.55;

export function filmScene(): Scene {
  let asked = 0;
  let film: Film | null = null;
  let chosen = 0;
  let number = FIRST;
  let timer: number | undefined;
  const guessed = new Set<number>();
  /** Where somebody expects the pointer of `subject` to go. */
  let aimed: number | null = null;
  const trouble = h('div');
  const task = choice([['dsu-free', 'disjoint-set union'], ['lct-free', 'link/cut tree']], 'dsu-free', { 'aria-label': 'Data structure', onchange: () => load() });
  const button = (label: string, text: string, act: () => void) => h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
  const counter = h('span', { class: 'counter' });
  const [back, forward] = [button('Previous operation', '◀', () => go(number - 1)), button('Next operation', '▶', () => go(number + 1))];
  const slider = h('input', { type: 'range', class: 'scrubber', min: 0, max: STAGES.length * TICKS - 1, value: 0, 'aria-label': 'Stage of the operation', oninput: () => show() });
  const play = h('button', { type: 'button', class: 'play', onclick: () => (timer === undefined ? start() : pause()) }, 'Play');
  const stages = STAGES.map(({ name }, stage) => h('button', { type: 'button', onclick: () => seek(stage + SEEN) }, name));
  const equation = h('p', { class: 'equation' });
  const sentence = h('p', { class: 'verdict' });
  const guess = h('p', { class: 'quiet' });
  const inspected = h('div', { class: 'film-numbers' });
  const view = new FilmView((node) => {
    chosen = node;
    inspect();
  }, (node) => {
    // Until the masks are shown, who is visited; until attention is, where a pointer goes.
    if (stageNow() > 4 || !film) return;
    if (stageNow() === 4) aimed = aimed === node ? null : node;
    else if (!guessed.delete(node)) guessed.add(node);
    show();
  });
  const picture = h('h3', { class: 'film-title' });
  const represented = new MiniForest('The tree it represents');
  const legend = h('p', { class: 'quiet note', hidden: true }, 'Solid lines lead to parents in a splay tree, drawn in order; dashed ones to path-parents.');
  const element = frame(2, 'One operation, from inside', [
    ['The network never sees the algorithm. It is trained to give the same answers, to visit the same nodes, and to move the same pointers.'],
  ], h('div', { class: 'controls' }, task, back, counter, forward), trouble,
  h('div', { class: 'film-parts' }, h('div', { class: 'film-picture' }, picture, view.element, legend, represented.element),
    h('div', { class: 'film-text' }, h('div', { class: 'film-stages', role: 'group', 'aria-label': 'Stages' }, ...stages), equation, sentence, guess, inspected)),
  h('div', { class: 'steps' }, play, slider, ...saveButtons(() => view.element.querySelectorAll('svg'), () => 'operation', 'this picture')),
  h('div', { class: 'film-why' }, h('h3', {}, 'Why pointers?'),
    h('p', {}, 'A network without pointers would have to remember in 32 numbers for each node which tree it is in, for any number of nodes, and every node would have to hear every other. Pointers keep this outside of the network, exactly; an operation needs only the nodes on two paths, however large n is.'),
    h('p', {}, 'The network is ', h('code', {}, 'pgn-free'), '; latent states and messages are computed by the reference implementation of the equations, on the pointers of the rollout.')));
  element.classList.add('wide');

  const stageNow = () => Math.floor(Number(slider.value) / TICKS);
  const inspect = () => {
    if (film) inspected.replaceChildren(...tellNode(film, chosen, Number(slider.value) / TICKS));
  };
  const show = () => {
    if (!film) return;
    const at = Number(slider.value) / TICKS;
    const stage = STAGES[stageNow()];
    view.show(at + 1 / TICKS);
    stages.forEach((one, index) => (index === stageNow() ? one.setAttribute('aria-current', 'step') : one.removeAttribute('aria-current')));
    equation.replaceChildren(stage.equation, stage.number ? h('small', {}, ` equation${stage.number.includes(',') ? 's' : ''} ${stage.number}`) : '');
    sentence.textContent = stage.tell(film);
    slider.setAttribute('aria-valuetext', `${stage.name}: ${sentence.textContent}`);
    const { visited } = film;
    const truly = new Set(film.step.truth.visited);
    const hits = (nodes: Set<number>) => [...nodes].filter((node) => truly.has(node)).length;
    view.mark(stageNow() < 4 ? guessed : new Set(aimed === null ? [] : [aimed]));
    const subject = film.step.truth.moved[0]?.[0] ?? film.step.u;
    const to = (node: number) => (node === subject ? 'itself' : node);
    const found = `The data structure visits ${truly.size} nodes. The network found ${hits(visited)} of them${visited.size > hits(visited) ? ` and ${visited.size - hits(visited)} more` : ''}${guessed.size ? `; you found ${hits(guessed)}${guessed.size > hits(guessed) ? ` and ${guessed.size - hits(guessed)} more` : ''}` : ''}.`;
    guess.textContent = stageNow() < 4 ? 'Predict first: click the nodes that you expect the operation to visit.'
      : stageNow() === 4 ? `${found} Predict the next: click the node that node ${subject} will point to.`
        : stageNow() === 5 ? found
          : `Node ${subject} now points to ${to(film.truth[subject])} in the data structure. The network aims it at ${to(film.after[subject])}${aimed === null ? '' : `; you said ${to(aimed)}`}.`;
    inspect();
  };
  const seek = (at: number) => {
    pause();
    slider.value = String(Math.round(at * TICKS));
    show();
    announce(`${STAGES[stageNow()].name}. ${sentence.textContent}`);
  };
  const pause = () => {
    clearInterval(timer);
    timer = undefined;
    play.textContent = 'Play';
  };
  const start = () => {
    if (Number(slider.value) >= Number(slider.max)) slider.value = '0';
    play.textContent = 'Pause';
    timer = setInterval(() => {
      slider.value = String(Number(slider.value) + 1);
      show();
      if (Number(slider.value) >= Number(slider.max)) pause();
    }, PAUSE);
  };
  let rolled: { request: api.ReplayRequest; replay: api.Replay } | null = null;
  const load = async () => {
    const request = { model: `built-in:${task.value}`, nodes: NODES, seed: 0, sequence: SEQUENCE };
    const mine = ++asked;
    try {
      const replay = await api.replay(request);
      if (mine !== asked) return;
      rolled = { request, replay };
      await go(FIRST);
    } catch (error) {
      if (mine === asked) trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  /** Shows another operation at the same stage. */
  const go = async (step: number) => {
    if (!rolled) return;
    const { request, replay } = rolled;
    const mine = ++asked;
    try {
      const details = await api.stepDetails(request, step, { equations: true });
      if (mine !== asked || !details.equations || !details.alpha || !details.mask_logits) return;
      number = step;
      const frames = unroll(replay);
      const [before, now] = [frames[step - 1], frames[step]];
      const { operation, answers, priorities, steps } = replay;
      const shape = ({ tree, truth, model }: Frame): Shape | null => {
        const right = (node: number) => model[node] === truth[node];
        return tree && { sides: tree.sides.map((side, node) => (right(node) ? side : null)), pathParents: new Set([...tree.pathParents].filter(right)) };
      };
      const [first, last] = [shape(before), shape(now)];
      film = {
        operation, answers, priorities, step: steps[step - 1], before: before.model, after: now.model, truth: now.truth,
        visited: now.modelVisited ?? new Set(), alpha: details.alpha, masks: details.mask_logits, equations: details.equations, shapes: first && last ? [first, last] : undefined,
      };
      const tree = now.tree?.represented;
      picture.textContent = tree ? 'The network’s pointers: the auxiliary forest' : 'The network’s pointers';
      legend.hidden = represented.element.hidden = !tree;
      represented.rename(`The tree that the data structure represents after operation ${step}`);
      if (tree) represented.show({ pointers: tree, u: film.step.u, v: film.step.v }, false);
      counter.replaceChildren(h('code', {}, `${operation}(${film.step.u}, ${film.step.v})`), ` operation ${step} of ${steps.length}`);
      [back.disabled, forward.disabled] = [step === 1, step === steps.length];
      chosen = film.step.u;
      guessed.clear();
      aimed = null;
      trouble.replaceChildren();
      view.load(film);
      show();
    } catch (error) {
      if (mine === asked) trouble.replaceChildren(notice('error', (error as Error).message));
    }
  };
  slider.value = String(Math.round((2 + SEEN) * TICKS));
  load();
  return {
    element,
    destroy: () => {
      asked++;
      pause();
      view.destroy();
      represented.destroy();
    },
  };
}
