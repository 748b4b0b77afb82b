/** What was wrong with a notice, each kind once with its number: a broken file of 50,000 entries has a short report. */
export class Problems {
  readonly #counts = new Map<string, number>();

  add(problem: string): void {
    this.#counts.set(problem, (this.#counts.get(problem) ?? 0) + 1);
  }

  list(): string[] {
    return [...this.#counts].map(([problem, count]) => (count === 1 ? problem : `${problem} (${count} times)`));
  }
}
