import type { PythonRun, RunLimits } from "../sandbox.ts";
import type { WasmChild } from "./child.ts";
import type { WasmFolder } from "./folder.ts";
import type { FromKernel } from "./messages.ts";

// How long code that was interrupted may take to stop, and how long its files may take to arrive.
const GRACE_MS = 1_000;
const FILES_MS = 60_000;

/** One run from the parent's side: it waits, limits, kills, and keeps the files. */
export class WasmRun {
  readonly #child: WasmChild;
  readonly #folder: WasmFolder;
  readonly #limits: RunLimits;
  readonly #stdout: Captured;
  readonly #stderr: Captured;
  readonly #leftOut: string[] = [];
  #filing: Promise<void> = Promise.resolve();
  #ran: Extract<FromKernel, { type: "ran" }> | undefined;
  #timedOut = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(child: WasmChild, folder: WasmFolder, limits: RunLimits) {
    this.#child = child;
    this.#folder = folder;
    this.#limits = limits;
    this.#stdout = new Captured(limits.maxOutputBytes);
    this.#stderr = new Captured(limits.maxOutputBytes);
  }

  async of(code: string): Promise<PythonRun> {
    const { timeoutMs, maxOutputBytes, signal } = this.#limits;
    const abort = () => this.#child.kill("its run was aborted");
    signal?.addEventListener("abort", abort, { once: true });
    this.#killAfter(timeoutMs + GRACE_MS);
    try {
      const kept = new Promise<true>((resolve) => {
        this.#child.listen((message) => this.#hear(message, () => resolve(true)));
      });
      if (signal?.aborted) abort();
      await this.#child.send({ type: "run", code, timeoutMs, maxOutputBytes });
      const survived = (await Promise.race([kept, this.#child.gone])) === true;
      await this.#filing;
      return this.#result(survived && this.#child.causeOfDeath === undefined);
    } finally {
      clearTimeout(this.#timer);
      this.#child.listen(undefined);
      signal?.removeEventListener("abort", abort);
    }
  }

  #hear(message: FromKernel, done: () => void): void {
    switch (message.type) {
      case "output":
        (message.stream === "stdout" ? this.#stdout : this.#stderr).add(message.bytes);
        break;
      case "ran":
        this.#ran = message;
        this.#killAfter(FILES_MS);
        break;
      case "changes":
        this.#keep(async () => this.#leftOut.push(...(await this.#folder.take(message.changes))));
        break;
      case "kept":
        this.#leftOut.push(...message.left);
        done();
        break;
    }
  }

  #keep(step: () => Promise<unknown>): void {
    this.#filing = this.#filing.then(step).then(
      () => {},
      (error) => this.#child.kill(`its files could not be kept: ${String(error)}`),
    );
  }

  #killAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#child.kill("it did not stop when its time was up");
    }, ms);
  }

  #result(survived: boolean): PythonRun {
    const ran = this.#ran;
    if (this.#leftOut.length > 0) this.#stderr.add(say(sayLeftOut(this.#leftOut)));
    if (!survived) {
      const cause = this.#child.causeOfDeath ?? "its process ended";
      this.#stderr.add(say(`The interpreter is gone, with all it held: ${cause}.`));
    }
    return {
      stdout: this.#stdout.text,
      stderr: this.#stderr.text,
      error: ran?.error ?? null,
      images: ran?.images ?? [],
      timedOut: this.#timedOut || (ran?.timedOut ?? false),
      truncated: this.#stdout.truncated || this.#stderr.truncated,
      died: !survived,
    };
  }
}

function sayLeftOut(paths: readonly string[]): string {
  const first = paths.slice(0, 3).map((path) => JSON.stringify(path.slice(0, 100)));
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return `Left out of /mnt/data (an odd name, too big or too many): ${first.join(", ")}${more}.`;
}

function say(line: string): Uint8Array {
  return new TextEncoder().encode(`${line}\n`);
}

/** Output as it arrives, up to a limit that the child is not trusted to keep. */
class Captured {
  readonly #parts: Uint8Array[] = [];
  #room: number;
  truncated = false;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  add(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, this.#room);
    this.#room -= kept.length;
    if (kept.length < bytes.length) this.truncated = true;
    if (kept.length > 0) this.#parts.push(kept);
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}
