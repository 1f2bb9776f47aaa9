/** One forest without the player around it: for the scenes of the introduction. */

import type { Side } from './binary-tree';
import { cellSize } from './forest';
import { ForestView, type Picture } from './forest-view';

export class MiniForest {
  readonly element: HTMLElement;
  private readonly view: ForestView;
  private readonly observer: ResizeObserver;
  private last: (Partial<Picture> & { pointers: number[] }) | null = null;
  /** All pointers that will be shown, so that nodes keep their size. */
  private sets: number[][] = [];
  private sides: Side[][] = [];

  constructor(title: string, choose: (node: number) => void = () => {}, private readonly smallest = 12) {
    this.view = new ForestView(title, choose);
    this.element = this.view.element;
    this.observer = new ResizeObserver(() => this.last && this.show(this.last, false));
    this.observer.observe(this.element);
  }

  destroy(): void {
    this.observer.disconnect();
  }

  rename(title: string): void {
    this.view.rename(title);
  }

  prepare(sets: number[][], sides: Side[][] = []): void {
    [this.sets, this.sides] = [sets, sides];
  }

  show(part: Partial<Picture> & { pointers: number[] }, animate = true): void {
    this.last = part;
    const [width, height] = this.view.room();
    if (width === 0) return;
    const cell = Math.min(58, cellSize([...this.sets, part.pointers], width, height, this.smallest, part.sides ? [...this.sides, part.sides] : []));
    const none = new Set<number>();
    const picture: Picture = {
      hasPointers: true, u: null, v: null, visited: null, heat: null, moved: none, wrong: none, truth: part.pointers, chosen: null, picked: null,
      columns: Math.floor((width - 16) / cell), cell, ...part,
    };
    this.view.layOut(picture);
    this.view.show(picture, animate);
  }
}
