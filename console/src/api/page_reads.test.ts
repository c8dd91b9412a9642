import { type Cursor, type Loaded, type Page, PageReads } from './page_reads';

type Row = { id: string };

/** A list as a master has it: a cursor names the last row that was told. */
class Source {
  reads: Cursor[] = [];
  waits = 0;
  readonly pages = new PageReads(() => Promise.resolve(void (this.waits += 1)));
  loaded: Loaded<Row> = { pages: [], pageParams: [] };

  constructor(public rows: string[], private readonly size = 2) {}

  private readonly load = (cursor: Cursor): Promise<Page<Row>> => {
    this.reads.push(cursor);
    const first = cursor === undefined ? 0 : this.rows.findIndex((id) => id > cursor);
    const items = first < 0 ? [] : this.rows.slice(first, first + this.size).map((id) => ({ id }));
    const last = items.at(-1)?.id;
    return Promise.resolve({ items, nextCursor: last && last !== this.rows.at(-1) ? last : undefined });
  };

  /** As TanStack does: from the first page on, as many as are loaded. */
  async round(count = this.loaded.pages.length): Promise<Cursor[]> {
    this.reads = [];
    const next: Loaded<Row> = { pages: [], pageParams: [] };
    for (let cursor: Cursor; next.pages.length < count; ) {
      const page = await this.pages.page(cursor, this.loaded, this.load);
      next.pages.push(page);
      next.pageParams.push(cursor);
      cursor = page.nextCursor;
      if (!cursor) break;
    }
    this.loaded = next;
    return this.reads;
  }

  async more(): Promise<void> {
    const cursor = this.loaded.pages.at(-1)?.nextCursor;
    const page = await this.pages.page(cursor, this.loaded, this.load);
    this.loaded = { pages: [...this.loaded.pages, page], pageParams: [...this.loaded.pageParams, cursor] };
  }

  get shown(): string[] {
    return this.loaded.pages.flatMap(({ items }) => items.map(({ id }) => id));
  }
}

const letters = [...'abcdefghijkl'];

async function six(): Promise<Source> {
  const source = new Source(letters);
  for (let pages = 0; pages < 6; pages += 1) await source.more();
  return source;
}

test('pages that are loaded by scrolling do not wait', async () => {
  const source = await six();
  expect(source.shown).toEqual(letters);
  expect(source.waits).toBe(0);
});

test('a round reads three pages, those on screen first; the next ones read what is still old', async () => {
  const source = await six();
  source.pages.see(['h']);
  expect(await source.round()).toEqual([undefined, 'b', 'h']);
  expect(source.pages.hasOld(source.loaded.pageParams)).toBe(true);
  source.pages.see(['j']);
  source.pages.continue();
  expect(await source.round()).toEqual(['d', 'f', 'j']);
  expect(source.pages.hasOld(source.loaded.pageParams)).toBe(false);
  expect(source.shown).toEqual(letters);
});

test('with changes all the time each page has its turn', async () => {
  const source = await six();
  source.pages.see(['h']);
  const reads = [...(await source.round()), ...(await source.round()), ...(await source.round())];
  expect(new Set(reads)).toEqual(new Set(source.loaded.pageParams));
  expect(reads.filter((cursor) => cursor === 'h')).toHaveLength(3);
});

test('rows that come or go in a page leave the others where they are', async () => {
  const source = await six();
  source.rows = ['a', 'aa', ...letters.slice(1)];
  await source.round();
  expect(source.shown).toEqual(source.rows);
  source.pages.see([undefined]);
  source.rows = source.rows.filter((id) => id !== 'a' && id !== 'aa');
  await source.round();
  expect(source.shown).toEqual(letters.slice(1));
  expect(source.loaded.pages).toHaveLength(6);
});

test('where many rows come, reads beyond three wait', async () => {
  const source = await six();
  source.rows = ['a', ...[...'12345678'].map((digit) => `a${digit}`), ...letters.slice(1)];
  await source.round();
  expect(source.shown.slice(0, 10)).toEqual(source.rows.slice(0, 10));
  expect(source.waits).toBe(source.reads.length - 3);
});
