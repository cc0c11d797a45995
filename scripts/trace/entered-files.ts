import { Session as Inspector, type Profiler } from "node:inspector";

/** The files that were first entered in one part of a run. */
export interface EnteredPart {
  /** The event that ended the part. */
  readonly until: string;
  readonly files: readonly string[];
}

/**
 * Records which files of a folder a run enters: the files with a function that is called. What a module
 * does when it is loaded does not count.
 */
export class EnteredFiles implements Disposable {
  readonly #inspector = new Inspector();
  readonly #root: string;
  readonly #skipped: readonly string[];
  readonly #known = new Set<string>();
  readonly #parts: EnteredPart[] = [];

  /** `root`: the folder's URL, which ends in `/`. `skipped`: folders below it that do not count. */
  constructor(root: string, skipped: readonly string[]) {
    this.#root = root;
    this.#skipped = skipped;
    this.#inspector.connect();
    this.#inspector.post("Profiler.enable");
    this.#inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    this.#take();
  }

  get parts(): readonly EnteredPart[] {
    return this.#parts;
  }

  /** Ends a part of the run. */
  mark(until: string): void {
    const files = this.#take().filter((file) => !this.#known.has(file));
    for (const file of files) this.#known.add(file);
    if (files.length > 0) this.#parts.push({ until, files });
  }

  [Symbol.dispose](): void {
    this.#inspector.post("Profiler.stopPreciseCoverage");
    this.#inspector.disconnect();
  }

  /** The files entered since the last call. The inspector answers at once: it is in this thread. */
  #take(): readonly string[] {
    const entered: string[] = [];
    this.#inspector.post("Profiler.takePreciseCoverage", (error, coverage) => {
      if (error) throw error;
      for (const { url, functions } of coverage.result) {
        if (!url.startsWith(this.#root) || !functions.some(wasCalled)) continue;
        const file = url.slice(this.#root.length);
        if (!this.#skipped.some((folder) => file.startsWith(`${folder}/`))) entered.push(file);
      }
    });
    return entered.sort();
  }
}

/** True if a function was called. The function without a name that starts at 0 is the module itself. */
function wasCalled({ functionName, ranges }: Profiler.FunctionCoverage): boolean {
  const [whole] = ranges;
  if (!whole || (functionName === "" && whole.startOffset === 0)) return false;
  return whole.count > 0;
}
