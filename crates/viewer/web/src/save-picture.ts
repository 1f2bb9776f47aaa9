/** Pictures of the page as SVG files that need no style sheet. */

import { download, svg } from './dom';

const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linecap', 'opacity', 'visibility', 'font-family', 'font-size', 'font-weight', 'font-style', 'text-anchor', 'dominant-baseline', 'paint-order'];
const GAP = 16;

/** Saves pictures side by side, as they look now. */
export function savePictures(pictures: Iterable<SVGElement>, name: string): void {
  const all = [...pictures];
  const sizes = all.map((picture) => picture.getBoundingClientRect());
  const width = sizes.reduce((sum, { width }) => sum + width + GAP, -GAP);
  const height = Math.max(...sizes.map(({ height }) => height));
  const whole = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height });
  let x = 0;
  all.forEach((picture, index) => {
    const copy = picture.cloneNode(true) as SVGElement;
    const [from, to] = [picture, copy].map((one) => [one, ...one.querySelectorAll<SVGElement>('*')]);
    from.forEach((element, at) => {
      const style = getComputedStyle(element);
      // Not as an attribute, which the content security policy forbids.
      to[at].style.cssText = STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';');
    });
    copy.setAttribute('x', String(x));
    whole.append(copy);
    x += sizes[index].width + GAP;
  });
  download(`${name}.svg`, new XMLSerializer().serializeToString(whole), 'image/svg+xml');
}
