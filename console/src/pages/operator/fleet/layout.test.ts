import { expect, test } from 'vitest';
import { cellAt, cellSize, hit, layoutOf, moved, type Spot } from './layout';

const eights = (hosts: number) => Array.from({ length: hosts }, () => 8);

test('no two cells of a fleet are at one place, and each is found at its place', () => {
  const gpus = [8, 1, 4, 8, 16, 3, 8, 2];
  const layout = layoutOf(gpus, 120, 10);
  const places = new Set<string>();
  gpus.forEach((count, block) => {
    for (let gpu = 0; gpu < count; gpu += 1) {
      const { x, y } = cellAt(layout, { block, gpu });
      places.add(`${x} ${y}`);
      expect(hit(layout, x + 5, y + 5)).toEqual({ block, gpu });
      expect(x + 10).toBeLessThanOrEqual(120);
      expect(y + 10).toBeLessThanOrEqual(layout.height);
    }
  });
  expect(places.size).toBe(gpus.reduce((sum, count) => sum + count, 0));
});

test('between blocks and beyond the last nothing is hit', () => {
  const layout = layoutOf(eights(2), 400, 10);
  expect(hit(layout, 42, 5)).toBeUndefined();
  expect(hit(layout, 300, 5)).toBeUndefined();
  expect(hit(layout, 5, 900)).toBeUndefined();
});

test('80,000 GPUs fit a page', () => {
  const layout = layoutOf(eights(10_000), 1150, cellSize(80_000));
  expect(layout.first[10_000]).toBe(80_000);
  expect(layout.height).toBeLessThan(6000);
});

test('a host without GPUs has room and no cell', () => {
  const layout = layoutOf([8, 0, 8], 400, 10);
  expect(layout.first[3]).toBe(16);
  expect(hit(layout, 46, 5)).toBeUndefined();
});

test('arrow keys go to the neighbour, across blocks and lines', () => {
  const layout = layoutOf(eights(4), 90, 10);
  const follow = (from: Spot, ...keys: string[]) => keys.reduce<Spot | undefined>((spot, key) => spot && moved(layout, spot, key), from);
  expect(follow({ block: 0, gpu: 3 }, 'ArrowRight')).toEqual({ block: 1, gpu: 0 });
  expect(follow({ block: 1, gpu: 4 }, 'ArrowLeft')).toEqual({ block: 0, gpu: 7 });
  expect(follow({ block: 0, gpu: 1 }, 'ArrowDown')).toEqual({ block: 0, gpu: 5 });
  expect(follow({ block: 0, gpu: 5 }, 'ArrowDown')).toEqual({ block: 2, gpu: 1 });
  expect(follow({ block: 2, gpu: 1 }, 'ArrowUp')).toEqual({ block: 0, gpu: 5 });
  expect(follow({ block: 0, gpu: 0 }, 'ArrowUp', 'ArrowLeft')).toEqual({ block: 0, gpu: 0 });
  expect(follow({ block: 0, gpu: 0 }, 'End')).toEqual({ block: 3, gpu: 7 });
  expect(moved(layout, { block: 0, gpu: 0 }, 'x')).toBeUndefined();
});

test('keys pass the names of hosts', () => {
  const layout = layoutOf(eights(4), 200, 36);
  expect(layout.label).toBeGreaterThan(0);
  expect(moved(layout, { block: 0, gpu: 5 }, 'ArrowDown')).toEqual({ block: 1, gpu: 1 });
  expect(moved(layout, { block: 1, gpu: 1 }, 'ArrowUp')).toEqual({ block: 0, gpu: 5 });
});
