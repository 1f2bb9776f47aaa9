/** Pictures that are scrolled, dragged and zoomed together. */

export class Scrolling {
  private readonly last = new Map<HTMLElement, [number, number]>();

  constructor(private readonly zoom: (factor: number) => void) {}

  add(box: HTMLElement): void {
    this.last.set(box, [box.scrollLeft, box.scrollTop]);
    box.addEventListener('scroll', this.scrolled);
    box.addEventListener('wheel', this.wheel, { passive: false });
    box.addEventListener('pointerdown', this.grab);
  }

  remove(box: HTMLElement): void {
    this.last.delete(box);
  }

  /** Scrolls some pictures without the others. */
  quietly(act: () => void): void {
    act();
    for (const box of this.last.keys()) this.last.set(box, [box.scrollLeft, box.scrollTop]);
  }

  /** What one is scrolled by, the others are too. */
  private readonly scrolled = (event: Event) => {
    const box = event.target as HTMLElement;
    const [left, top] = this.last.get(box) ?? [0, 0];
    const [dx, dy] = [box.scrollLeft - left, box.scrollTop - top];
    if (dx === 0 && dy === 0) return;
    for (const other of this.last.keys()) {
      if (other !== box) other.scrollBy({ left: dx, top: dy, behavior: 'instant' });
      this.last.set(other, [other.scrollLeft, other.scrollTop]);
    }
  };

  private readonly wheel = (event: WheelEvent) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300));
  };

  /** Dragging the background with a mouse; touch scrolls by itself. */
  private readonly grab = (event: PointerEvent) => {
    if (event.pointerType !== 'mouse' || event.button !== 0 || (event.target as Element).closest('.node')) return;
    const box = event.currentTarget as HTMLElement;
    // A press on the scroll bar is not for us.
    if (event.offsetX > box.clientWidth && event.target === box) return;
    let [x, y] = [event.clientX, event.clientY];
    const move = (event: PointerEvent) => {
      box.scrollBy({ left: x - event.clientX, top: y - event.clientY, behavior: 'instant' });
      [x, y] = [event.clientX, event.clientY];
    };
    const end = () => {
      box.classList.remove('grabbed');
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', end);
      removeEventListener('pointercancel', end);
    };
    box.classList.add('grabbed');
    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
    addEventListener('pointercancel', end);
  };
}
