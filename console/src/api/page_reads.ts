// Which pages of a list are read again. A change makes all pages that were read before it old. A round reads at most three
// of them: those on screen first, then those that were read longest ago; all others stay as they are. While old ones are
// left, the next round follows a second later, so a page that comes into view while it is old is read within a second, and
// search and order, which look at all loaded rows, see each page in the end.

export type Cursor = string | undefined;

export interface Page<T> {
  items: T[];
  nextCursor?: string;
  total?: number;
}

/** What is loaded: page `i` was read with `pageParams[i]`. */
export interface Loaded<T> {
  pages: Page<T>[];
  pageParams: Cursor[];
}

type Load<T> = (cursor: Cursor) => Promise<Page<T>>;

export const pagesARound = 3;
/** Milliseconds from a round to the next one. */
export const betweenRounds = 1000;
/** Milliseconds before each further read of a round that needs more. */
const betweenReads = 500;

const none: Loaded<never> = { pages: [], pageParams: [] };

function keyOf(item: unknown): unknown {
  const { id, name } = item as { id?: unknown; name?: unknown };
  return id ?? name;
}

export class PageReads {
  private clock = 0;
  /** What was read before is old. */
  private since = 0;
  private readonly readAt = new Map<Cursor, number>();
  private seen = new Set<Cursor>();
  private continues = false;
  /** Of the round: the pages to read, how many reads it made, the last loaded page that it came by. */
  private turn = new Set<Cursor>();
  private reads = 0;
  private passed = 0;

  constructor(private readonly wait = (ms: number) => new Promise((done) => setTimeout(done, ms))) {}

  /** These pages are on screen now. */
  see(cursors: Iterable<Cursor>): void {
    this.seen = new Set(cursors);
  }

  hasOld(cursors: Cursor[]): boolean {
    return cursors.some((cursor) => this.isOld(cursor));
  }

  /** The next round reads what is still old; without this, a round makes all pages old first. */
  continue(): void {
    this.continues = true;
  }

  /** The page at a cursor: read, or as it is where it has to wait. A round asks for all pages from the first one on. */
  async page<T>(cursor: Cursor, loaded: Loaded<T> = none, load: Load<T>): Promise<Page<T>> {
    if (cursor === undefined) this.begin(loaded.pageParams);
    const at = loaded.pageParams.indexOf(cursor);
    const kept = loaded.pages[at];
    if (at >= 0) this.passed = at;
    else if (cursor === loaded.pages.at(-1)?.nextCursor) this.atEnd(loaded.pages.length);
    if (kept && !this.turn.has(cursor)) return kept;
    const now = ++this.clock;
    const page = await this.joined(loaded, cursor, load);
    this.readAt.set(cursor, now);
    return page;
  }

  /** A page behind the last one: no round, but a reader who scrolls there. */
  private atEnd(pages: number): void {
    this.passed = pages;
    this.reads = 0;
  }

  private isOld(cursor: Cursor): boolean {
    return (this.readAt.get(cursor) ?? 0) < this.since;
  }

  private begin(cursors: Cursor[]): void {
    if (!this.continues) this.since = ++this.clock;
    this.continues = false;
    this.reads = 0;
    const present = new Set(cursors);
    for (const cursor of this.readAt.keys()) if (!present.has(cursor)) this.readAt.delete(cursor);
    const pages = cursors.filter((cursor) => this.isOld(cursor)).map((cursor) => {
      return { cursor, rank: this.seen.has(cursor) ? 0 : 1, age: this.readAt.get(cursor) ?? 0 };
    });
    pages.sort((a, b) => a.rank - b.rank || a.age - b.age);
    this.turn = new Set(pages.slice(0, pagesARound).map(({ cursor }) => cursor));
  }

  /**
   * A page that ends where the next loaded one begins, also when rows before that place came or went. Where that place is
   * not found within two reads, the round reads on behind it, slowly.
   */
  private async joined<T>(loaded: Loaded<T>, cursor: Cursor, load: Load<T>): Promise<Page<T>> {
    const page = await this.paced(cursor, load);
    const next = this.passed + 1;
    if (next >= loaded.pages.length || page.nextCursor === loaded.pageParams[next]) return page;
    const cut = this.cutAtLoaded(loaded, page);
    if (cut || !page.nextCursor) return cut ?? page;
    const more = await this.paced(page.nextCursor, load);
    const both = { ...page, items: [...page.items, ...more.items], nextCursor: more.nextCursor };
    return this.cutAtLoaded(loaded, both) ?? both;
  }

  private cutAtLoaded<T>(loaded: Loaded<T>, page: Page<T>): Page<T> | undefined {
    const heads = new Map<unknown, number>();
    loaded.pages.forEach(({ items: [head] }, at) => head && at > this.passed && heads.set(keyOf(head), at));
    heads.delete(undefined);
    const end = page.items.findIndex((item) => heads.has(keyOf(item)));
    if (end < 0) return undefined;
    const follows = loaded.pageParams[heads.get(keyOf(page.items[end])) ?? 0];
    return { ...page, items: page.items.slice(0, end), nextCursor: follows };
  }

  private async paced<T>(cursor: Cursor, load: Load<T>): Promise<Page<T>> {
    this.reads += 1;
    if (this.reads > pagesARound) await this.wait(betweenReads);
    return load(cursor);
  }
}
