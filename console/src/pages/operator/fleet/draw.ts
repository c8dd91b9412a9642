// Draws the cells of a zone on a canvas, and of a next picture only those that differ.
import { type FleetHost, isDraining, isSilent } from './fleet_data';
import { cellAt, type Layout } from './layout';
import { degradedFlag, faultyFlag, type Shade } from './shades';

export interface Picture {
  layout: Layout;
  places: Uint8Array;
  hosts: FleetHost[];
  shades: Shade[];
  dark: boolean;
}

const ink = (dark: boolean) => (dark ? 'rgba(255,255,255,0.85)' : 'rgba(0,0,0,0.75)');

/** Lines from corner to corner of the unit square, by mark. */
const strokes: Partial<Record<Shade['mark'], [number, number, number, number][]>> = {
  slash: [[0.15, 0.85, 0.85, 0.15]],
  backslash: [[0.15, 0.15, 0.85, 0.85]],
  cross: [[0.15, 0.85, 0.85, 0.15], [0.15, 0.15, 0.85, 0.85]],
  bar: [[0.1, 0.5, 0.9, 0.5]],
};

type Pen = CanvasRenderingContext2D;

function drawMark(pen: Pen, mark: Shade['mark'], size: number): void {
  const line = Math.max(1, size / 9);
  pen.lineWidth = line;
  for (const [x1, y1, x2, y2] of strokes[mark] ?? []) {
    pen.beginPath();
    pen.moveTo(x1 * size, y1 * size);
    pen.lineTo(x2 * size, y2 * size);
    pen.stroke();
  }
  if (mark === 'hollow' || mark === 'unknown') {
    pen.globalAlpha = 0.3;
    pen.lineWidth = 1;
    pen.strokeRect(0.5, 0.5, size - 1, size - 1);
    pen.globalAlpha = 1;
  }
  const round = mark === 'ring' ? 3.4 : mark === 'dot' || mark === 'unknown' ? 6 : 0;
  if (round === 0) return;
  pen.beginPath();
  pen.arc(size / 2, size / 2, size / round, 0, 2 * Math.PI);
  if (mark === 'ring') pen.stroke();
  else pen.fill();
}

/** One cell at the origin of the pen, without the pixel between cells. */
export function drawShade(pen: Pen, shade: Shade, size: number, dark: boolean): void {
  const colour = dark ? shade.dark : shade.light;
  pen.fillStyle = colour;
  if (shade.level === undefined) {
    pen.fillRect(0, 0, size, size);
  } else {
    pen.globalAlpha = 0.45;
    pen.fillRect(0, 0, size, size);
    pen.globalAlpha = 1;
    const height = Math.max(1, Math.round(size * shade.level));
    pen.fillRect(0, size - height, size, height);
  }
  pen.strokeStyle = pen.fillStyle = ink(dark);
  drawMark(pen, shade.mark, size);
}

function drawFlag(pen: Pen, flag: number, size: number, dark: boolean): void {
  if (!(flag & (degradedFlag | faultyFlag))) return;
  const faulty = (flag & faultyFlag) !== 0;
  const reach = size * (faulty ? 0.75 : 0.5);
  pen.fillStyle = faulty ? '#e02b39' : '#f5a524';
  pen.strokeStyle = dark ? '#000' : '#fff';
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(size - reach, 0);
  pen.lineTo(size, 0);
  pen.lineTo(size, reach);
  pen.closePath();
  pen.fill();
  pen.stroke();
}

/** Cells are copied from pictures of each shade: 80,000 are drawn within a frame or two. */
class Stamps {
  private readonly made = new Map<number, HTMLCanvasElement>();

  constructor(private readonly picture: Picture, private readonly scale: number) {}

  of(place: number): HTMLCanvasElement {
    const known = this.made.get(place);
    if (known) return known;
    const { shades, layout, dark } = this.picture;
    const size = layout.cell - 1;
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = Math.ceil(size * this.scale);
    const pen = canvas.getContext('2d');
    const shade = shades[place & (degradedFlag - 1)];
    if (pen && shade) {
      pen.scale(this.scale, this.scale);
      drawShade(pen, shade, size, dark);
      drawFlag(pen, place, size, dark);
    }
    this.made.set(place, canvas);
    return canvas;
  }

  private readonly copied = new Map<number, Uint32Array>();

  pixelsOf(place: number): Uint32Array {
    const known = this.copied.get(place);
    if (known) return known;
    const canvas = this.of(place);
    const image = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(image?.data.buffer ?? new ArrayBuffer(4 * canvas.width * canvas.height));
    this.copied.set(place, pixels);
    return pixels;
  }
}

type Put = (cell: number, x: number, y: number) => void;

function eachCell(layout: Layout, cells: Iterable<number>, put: Put): void {
  let block = 0;
  for (const cell of cells) {
    while ((layout.first[block + 1] ?? Infinity) <= cell) block += 1;
    const { x, y } = cellAt(layout, { block, gpu: cell - (layout.first[block] ?? 0) });
    put(cell, x, y);
  }
}

/** All cells at once as pixels: many times faster than to draw each. `scale` is whole. */
function drawAll(pen: Pen, { layout, places }: Picture, stamps: Stamps, scale: number): void {
  const { width, height } = pen.canvas;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const size = (layout.cell - 1) * scale;
  eachCell(layout, places.keys(), (cell, x, y) => {
    const stamp = stamps.pixelsOf(places[cell] ?? 0);
    const columns = Math.min(size, width - x * scale);
    for (let row = 0; row < size; row += 1)
      for (let column = 0, at = (y * scale + row) * width + x * scale; column < columns; column += 1)
        pixels[at + column] = stamp[row * size + column] ?? 0;
  });
  pen.putImageData(image, 0, 0);
}

function fitted(pen: Pen, text: string, width: number): string {
  let short = text;
  while (short.length > 1 && pen.measureText(short).width > width) short = short.slice(0, -1);
  return short.length < text.length ? `${short.slice(0, -1)}…` : text;
}

function drawNames(pen: Pen, { layout, hosts, dark }: Picture): void {
  if (layout.label === 0) return;
  pen.fillStyle = dark ? '#c9ced6' : '#3d434d';
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'top';
  hosts.forEach((host, block) => {
    const width = Math.max(1, Math.ceil(host.gpus / 2)) * layout.cell;
    pen.fillText(fitted(pen, host.name, width), layout.left[block] ?? 0, (layout.top[block] ?? 0) + 2);
  });
}

/** Below a block: a whole line for a silent host, a broken one for one that drains. */
export function drawHostLine(pen: Pen, kind: 'silent' | 'draining', x: number, y: number, width: number): void {
  pen.strokeStyle = kind === 'silent' ? '#e02b39' : '#f08c00';
  pen.lineWidth = 3;
  pen.setLineDash(kind === 'silent' ? [] : [4, 3]);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + width, y);
  pen.stroke();
  pen.setLineDash([]);
}

function drawHosts(pen: Pen, before: Picture | undefined, { layout, hosts }: Picture): void {
  hosts.forEach((host, block) => {
    const was = before?.hosts[block];
    const marked = isSilent(host) || isDraining(host);
    if (!marked && !(was && (isSilent(was) || isDraining(was)))) return;
    const x = layout.left[block] ?? 0;
    const y = (layout.top[block] ?? 0) + layout.label + 2 * layout.cell + 1.5;
    const width = Math.max(1, Math.ceil(host.gpus / 2)) * layout.cell - 1;
    pen.clearRect(x, y - 1.5, width + 1, 4);
    if (isSilent(host)) drawHostLine(pen, 'silent', x, y, width);
    else if (isDraining(host)) drawHostLine(pen, 'draining', x, y, width);
  });
}

const sameGround = (a: Picture | undefined, b: Picture) =>
  a !== undefined && a.layout === b.layout && a.dark === b.dark && JSON.stringify(a.shades) === JSON.stringify(b.shades);

/** Cells that `next` draws in another way than `before`, with all of them where the ground is another. */
export function differing(before: Picture | undefined, next: Picture): number[] {
  const all = !sameGround(before, next);
  const cells: number[] = [];
  for (let cell = 0; cell < next.places.length; cell += 1)
    if (all || before?.places[cell] !== next.places[cell]) cells.push(cell);
  return cells;
}

/** Draws what differs; answers the number of cells. */
export function draw(canvas: HTMLCanvasElement, before: Picture | undefined, next: Picture, scale: number): number {
  const pen = canvas.getContext('2d');
  if (!pen || canvas.width === 0 || canvas.height === 0) return 0;
  const { layout, places } = next;
  const size = layout.cell - 1;
  const cells = differing(before, next);
  const stamps = new Stamps(next, scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  if (sameGround(before, next)) {
    eachCell(layout, cells, (cell, x, y) => {
      pen.clearRect(x, y, size, size);
      pen.drawImage(stamps.of(places[cell] ?? 0), x, y, size, size);
    });
  } else {
    drawAll(pen, next, stamps, scale);
    drawNames(pen, next);
  }
  drawHosts(pen, before, next);
  return cells.length;
}
