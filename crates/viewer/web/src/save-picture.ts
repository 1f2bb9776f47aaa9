/** Pictures of the page as files: SVG that needs no style sheet, or PNG. */

import { download, h, svg } from './dom';

const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linecap', 'opacity', 'visibility', 'font-family', 'font-size', 'font-weight', 'font-style', 'text-anchor', 'dominant-baseline', 'image-rendering', 'paint-order'];
const GAP = 16;
/** Pixels of a PNG for each of the page's. */
const SCALE = 2;

/** Two buttons that save what `pictures` finds, under the name that `name` gives. */
export function saveButtons(pictures: () => Iterable<SVGElement | HTMLCanvasElement>, name: () => string, what: string): HTMLElement[] {
  const button = (kind: 'svg' | 'png') => h('button', { type: 'button', title: `Save ${what} as ${kind.toUpperCase()}`, onclick: () => savePictures(pictures(), name(), kind) }, kind.toUpperCase());
  return [button('svg'), button('png')];
}

/** Saves pictures side by side, as they look now. */
async function savePictures(pictures: Iterable<SVGElement | HTMLCanvasElement>, name: string, kind: 'svg' | 'png'): Promise<void> {
  const all = [...pictures];
  const sizes = all.map((picture) => picture.getBoundingClientRect());
  const width = sizes.reduce((sum, { width }) => sum + width + GAP, -GAP);
  const height = Math.max(...sizes.map(({ height }) => height));
  const whole = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height });
  let x = 0;
  all.forEach((picture, index) => {
    // A drawing of pixels goes in as an image.
    const copy = picture instanceof HTMLCanvasElement ? svg('image', { href: picture.toDataURL(), width: sizes[index].width, height: sizes[index].height }) : picture.cloneNode(true) as SVGElement;
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
  const text = new XMLSerializer().serializeToString(whole);
  if (kind === 'svg') return download(`${name}.svg`, text, 'image/svg+xml');
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h('canvas', {});
  [canvas.width, canvas.height] = [SCALE * width, SCALE * height];
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && download(`${name}.png`, blob, 'image/png'));
}
