import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { BoundedOutput } from "../bounded-output.ts";
import { encodeRequest, type Frame, FrameReader, type KernelRequest } from "../kernel/frames.ts";
import { type ExceededLimit, parseEnding } from "../kernel/parse-answer.ts";
import type { Launched } from "./launcher.ts";

/** Receives a run's frames, and `null` when the sandbox has ended. */
export type FrameListener = (frame: Frame | null) => void;

/** One sandbox and everything inside it. Passes its frames on without trusting them. */
export class SupervisedChild {
  /** Resolves when no process of the sandbox is left. */
  readonly exited: Promise<void>;
  /** Resolves to whether the supervisor started. */
  readonly ready: Promise<boolean>;
  readonly #launched: Launched;
  readonly #stderr = new BoundedOutput(4_096);
  readonly #clock: Clock;
  readonly #listeners = new Map<number, FrameListener>();
  readonly #setReady: (ready: boolean) => void;
  #violation: Frame | null = null;
  #ended = false;

  constructor(launched: Launched, clock: Clock) {
    this.#launched = launched;
    this.#clock = clock;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.ready = promise;
    this.#setReady = resolve;
    launched.requests.on("error", () => {});
    this.exited = this.#waitForExit(launched.process);
    launched.complaints.on("data", (chunk: Buffer) => this.#stderr.write(chunk));
    this.#readFrames(launched.frames);
  }

  /** Whether new runs can start: the sandbox has neither ended nor announced its end. */
  get isUsable(): boolean {
    return !this.#ended && this.#violation === null;
  }

  /** The limit whose violation ended the sandbox, also between runs; `null` if there was none. */
  get exceededLimit(): ExceededLimit | null {
    const ending = this.#violation === null ? null : parseEnding(this.#violation.payload);
    return ending?.kind === "violation" ? ending.limit : null;
  }

  /** Output of the launcher, usually the reason why it could not start. */
  get stderrText(): string {
    return this.#stderr.toText().trim();
  }

  /** Sends a request whose answers `listener` receives until `stopListening`. */
  start(request: KernelRequest, channel: number, listener: FrameListener): void {
    this.#listeners.set(channel, listener);
    if (this.#violation !== null) listener(this.#violation);
    if (this.#ended) listener(null);
    this.send(request);
  }

  stopListening(channel: number): void {
    this.#listeners.delete(channel);
  }

  send(request: KernelRequest): void {
    this.#launched.requests.write(encodeRequest(request));
  }

  /** Kills every process of the sandbox and waits until they have ended. */
  async kill(): Promise<void> {
    this.#launched.kill();
    const patience = new AbortController();
    const rest = this.#clock.sleep(KILL_TIMEOUT_MS, patience.signal, { background: true }).then(
      () => this.#launched.killForcibly(),
      // It ended in time, so the wait was aborted.
      () => {},
    );
    await this.exited;
    patience.abort();
    await rest;
  }

  #waitForExit(process: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
      const onExit = (): void => {
        this.#ended = true;
        this.#setReady(false);
        for (const listener of [...this.#listeners.values()]) listener(null);
        resolve();
      };
      process.once("close", onExit);
      process.once("error", (problem) => {
        this.#stderr.write(Buffer.from(problem.message));
        if (process.pid === undefined) onExit();
      });
    });
  }

  #readFrames(frames: Readable): void {
    const reader = new FrameReader();
    frames.on("data", (chunk: Buffer) => {
      if (this.#ended) return;
      try {
        for (const frame of reader.read(chunk)) this.#deliver(frame);
      } catch {
        // The sender is not the supervisor: ignore all further bytes.
        frames.removeAllListeners("data");
        frames.resume();
        void this.kill();
      }
    });
  }

  #deliver(frame: Frame): void {
    if (frame.kind === "r") this.#setReady(true);
    else if (frame.kind !== "v") this.#listeners.get(frame.channel)?.(frame);
    else {
      this.#violation = frame;
      for (const listener of [...this.#listeners.values()]) listener(frame);
    }
  }
}

const KILL_TIMEOUT_MS = 1_000;
