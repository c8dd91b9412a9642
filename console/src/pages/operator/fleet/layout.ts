// Where the cells of a zone are drawn: a block of two rows for each host, blocks from left to right, then below.

export interface Layout {
  cell: number;
  /** Room above each block for its host's name; 0: none. */
  label: number;
  height: number;
  /** Of each block: left, top, number of its first cell. `first` has one more entry: the number of cells. */
  left: Int32Array;
  top: Int32Array;
  first: Int32Array;
  /** First block of each line of blocks, and the number of blocks at the end. */
  lines: number[];
}

export interface Spot {
  block: number;
  /** Within its block. */
  gpu: number;
}

const blockGap = 4;
const lineGap = 6;
const labelHeight = 16;

/** Size of cells for so many GPUs: few are large. */
export function cellSize(gpus: number): number {
  if (gpus <= 128) return 36;
  if (gpus <= 512) return 24;
  if (gpus <= 4096) return 14;
  return gpus <= 20_000 ? 9 : 6;
}

const columnsOf = (gpus: number) => Math.max(1, Math.ceil(gpus / 2));
const lineHeight = (cell: number, label: number) => label + 2 * cell + lineGap;

export function layoutOf(gpus: number[], width: number, cell: number): Layout {
  const label = cell >= 24 ? labelHeight : 0;
  const left = new Int32Array(gpus.length);
  const top = new Int32Array(gpus.length);
  const first = new Int32Array(gpus.length + 1);
  const lines: number[] = [0];
  let x = 0;
  let y = 0;
  gpus.forEach((count, block) => {
    const wide = columnsOf(count) * cell;
    if (x > 0 && x + wide > width) {
      x = 0;
      y += lineHeight(cell, label);
      lines.push(block);
    }
    left[block] = x;
    top[block] = y;
    first[block + 1] = (first[block] ?? 0) + count;
    x += wide + blockGap;
  });
  lines.push(gpus.length);
  return { cell, label, height: gpus.length ? y + lineHeight(cell, label) : 0, left, top, first, lines };
}

const gpusOf = ({ first }: Layout, block: number) => (first[block + 1] ?? 0) - (first[block] ?? 0);

/** Left and top of a cell. */
export function cellAt(layout: Layout, { block, gpu }: Spot): { x: number; y: number } {
  const columns = columnsOf(gpusOf(layout, block));
  return {
    x: (layout.left[block] ?? 0) + (gpu % columns) * layout.cell,
    y: (layout.top[block] ?? 0) + layout.label + Math.floor(gpu / columns) * layout.cell,
  };
}

/** The cell at a point, or the nearest of its line; undefined: no line is there. `gpu` is -1 on a block's name. */
function nearest(layout: Layout, x: number, y: number): Spot | undefined {
  const { cell, label, lines, left, top } = layout;
  const line = Math.floor(y / lineHeight(cell, label));
  const from = lines[line];
  const to = lines[line + 1];
  if (y < 0 || from === undefined || to === undefined) return undefined;
  let block = from;
  while (block + 1 < to && (left[block + 1] ?? 0) <= x) block += 1;
  const count = gpusOf(layout, block);
  if (count === 0) return undefined;
  const columns = columnsOf(count);
  const within = y - (top[block] ?? 0) - label;
  if (within < 0) return { block, gpu: -1 };
  const column = Math.min(columns - 1, Math.max(0, Math.floor((x - (left[block] ?? 0)) / cell)));
  const row = Math.min(1, Math.floor(within / cell));
  return { block, gpu: Math.min(count - 1, row * columns + column) };
}

/** What a pointer is on: a cell, or a host's name (`gpu` is -1). */
export function hit(layout: Layout, x: number, y: number): Spot | undefined {
  const spot = nearest(layout, x, y);
  if (!spot) return undefined;
  const columns = columnsOf(gpusOf(layout, spot.block));
  if (spot.gpu < 0) return x <= (layout.left[spot.block] ?? 0) + columns * layout.cell ? spot : undefined;
  const at = cellAt(layout, spot);
  const inside = x >= at.x && x < at.x + layout.cell && y >= at.y && y < at.y + layout.cell;
  return inside ? spot : undefined;
}

const steps: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

function sideways(layout: Layout, spot: Spot, by: number): Spot {
  const columns = columnsOf(gpusOf(layout, spot.block));
  const column = spot.gpu % columns + by;
  const within = spot.gpu + by;
  if (column >= 0 && column < columns && within < gpusOf(layout, spot.block)) return { ...spot, gpu: within };
  const block = spot.block + by;
  const count = block >= 0 && block < layout.left.length ? gpusOf(layout, block) : 0;
  if (count === 0) return spot;
  const row = Math.floor(spot.gpu / columns);
  const wide = columnsOf(count);
  return { block, gpu: Math.min(count - 1, row * wide + (by > 0 ? 0 : wide - 1)) };
}

function upright(layout: Layout, spot: Spot, by: number): Spot {
  const { x, y } = cellAt(layout, spot);
  const half = layout.cell / 2;
  const near = nearest(layout, x + half, y + half + by * layout.cell);
  const moved = near && near.gpu >= 0 && (near.block !== spot.block || near.gpu !== spot.gpu);
  if (moved) return near;
  const beyond = nearest(layout, x + half, y + half + by * (layout.cell + layout.label + lineGap));
  return beyond && beyond.gpu >= 0 ? beyond : spot;
}

/** Where a key leads from a cell; undefined: the key moves nothing. */
export function moved(layout: Layout, spot: Spot, key: string): Spot | undefined {
  const last = layout.left.length - 1;
  if (last < 0) return undefined;
  if (key === 'Home') return { block: 0, gpu: 0 };
  if (key === 'End') return { block: last, gpu: gpusOf(layout, last) - 1 };
  const step = steps[key];
  if (!step) return undefined;
  return step[0] !== 0 ? sideways(layout, spot, step[0]) : upright(layout, spot, step[1]);
}
