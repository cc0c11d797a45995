/** Sums of CPU times by name, in microseconds. */
export class Totals {
  readonly #times = new Map<string, number>();
  sum = 0;

  add(key: string, us: number): void {
    this.sum += us;
    this.#times.set(key, (this.#times.get(key) ?? 0) + us);
  }

  /** Prints the largest sums as shares of `busy`. */
  print(title: string, busy: number, count: number): void {
    console.log(`\n${title}`);
    const sorted = [...this.#times].sort(([, one], [, other]) => other - one);
    for (const [key, us] of sorted.slice(0, count)) {
      console.log(`${((100 * us) / busy).toFixed(1).padStart(6)}%  ${key}`);
    }
  }
}
