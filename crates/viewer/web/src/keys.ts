/** The keys, shown on demand. */

import { h } from './dom';

const KEYS: [string, string][] = [
  ['← →', 'one step back or forward'],
  ['Home End', 'first or last step'],
  ['Space', 'play or pause'],
  ['m, Shift+m', 'next or previous mistake'],
  ['f', 'presentation mode; Escape leaves it'],
  ['↑ ↓, Enter', 'move between nodes and choose one, once a node has the focus'],
  ['Ctrl+Z, Ctrl+Y', 'undo and redo in the playground'],
  ['?', 'this list'],
];

let dialog: HTMLDialogElement | null = null;

export function showKeys(): void {
  dialog ??= h('dialog', { 'aria-labelledby': 'keys-title' },
    h('h2', { id: 'keys-title' }, 'Keys'),
    h('dl', { class: 'key-list' }, ...KEYS.flatMap(([keys, text]) => [h('dt', {}, h('kbd', {}, keys)), h('dd', {}, text)])),
    h('button', { type: 'button', onclick: () => dialog?.close() }, 'Close'));
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
}
