// Work that takes turns: so many at once, the others wait.
export class Turns {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly places: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken >= this.places) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.taken += 1;
    try {
      return await work();
    } finally {
      // The place goes to the one that waits longest.
      const next = this.waiting.shift();
      if (next) next();
      else this.taken -= 1;
    }
  }
}
