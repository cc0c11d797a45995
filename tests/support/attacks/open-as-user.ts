import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdtempSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type {
  PythonRun,
  RunLimits,
  SandboxOptions,
  SandboxProcess,
  ShellRun,
} from "../../../src/local/sandbox/sandbox.ts";

/** A function that creates a sandbox, by its place, because another process calls it. */
export interface SandboxFactory {
  /** File below `src`, such as `"local/sandbox/bubblewrap/bubblewrap-sandbox.ts"`. */
  readonly module: string;
  /** The function's name, such as `"bubblewrapSandbox"`. */
  readonly name: string;
  /** The function's argument. It must survive JSON. */
  readonly options?: unknown;
}

/** A request to the other process. */
export type HostRequest = { readonly id: number } & (
  | { readonly op: "open"; readonly factory: SandboxFactory; readonly options: SandboxOptions }
  | { readonly op: "python" | "shell"; readonly text: string; readonly limits: RunLimits }
  | { readonly op: "dispose" }
);

/** The user `nobody`, which owns nothing. */
export const PLAIN_USER = 65_534;

/**
 * Opens a sandbox in a process of the user `nobody`. Only root can do this. The folder must exist; it
 * is given to that user. Runs cannot be aborted.
 */
export async function openAsUser(
  factory: SandboxFactory,
  options: Omit<SandboxOptions, "signal">,
): Promise<SandboxProcess> {
  chownSync(options.root, PLAIN_USER, PLAIN_USER);
  const { folder, node } = findReadableCheckout();
  const home = mkdtempSync(join(tmpdir(), "wink-home-"));
  chownSync(home, PLAIN_USER, PLAIN_USER);
  const child = spawn(node, [join(folder, "tests/support/attacks/sandbox-host.ts")], {
    uid: PLAIN_USER,
    gid: PLAIN_USER,
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, TMPDIR: tmpdir() },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.once("exit", () => rmSync(home, { recursive: true, force: true }));
  const host = new Host(child);
  const module = join(folder, "src", factory.module);
  try {
    await host.ask<void>({ op: "open", factory: { ...factory, module }, options });
  } catch (error) {
    host.end();
    throw error;
  }
  return {
    python: (text, { signal: _, ...limits }) => host.ask<PythonRun>({ op: "python", text, limits }),
    shell: (text, { signal: _, ...limits }) => host.ask<ShellRun>({ op: "shell", text, limits }),
    async [Symbol.asyncDispose]() {
      await host.ask<void>({ op: "dispose" });
      host.end();
    },
  };
}

type Body<Request> = Request extends unknown ? Omit<Request, "id"> : never;

class Host {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (answer: { id: number; result?: unknown; problem?: string }) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (answer.problem === undefined) waiting?.resolve(answer.result);
      else waiting?.reject(new Error(answer.problem));
    });
    child.once("exit", (code, signal) => {
      for (const { reject } of this.#waiting.values()) {
        reject(new Error(`The process of the user ended: ${code ?? signal}.`));
      }
    });
  }

  async ask<Result>(body: Body<HostRequest>): Promise<Result> {
    const id = ++this.#asked;
    const waiting = Promise.withResolvers<Result>();
    this.#waiting.set(id, waiting as PromiseWithResolvers<unknown>);
    this.#child.send({ ...body, id });
    return await waiting.promise;
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}

let checkout: { readonly folder: string; readonly node: string } | undefined;

/** Returns the checkout and Node, or copies of both if another user cannot read them here. */
function findReadableCheckout(): { readonly folder: string; readonly node: string } {
  checkout ??= copyCheckout(join(import.meta.dirname, "../../.."), process.execPath);
  return checkout;
}

function copyCheckout(folder: string, node: string): { folder: string; node: string } {
  if (isReadableByAll(join(folder, "src")) && isReadableByAll(node)) return { folder, node };
  const copy = mkdtempSync(join(tmpdir(), "wink-checkout-"));
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  chmodSync(copy, 0o755);
  for (const part of ["package.json", "src", "tests/support/attacks"]) {
    cpSync(join(folder, part), join(copy, part), { recursive: true });
  }
  const copiedNode = join(copy, "node");
  try {
    linkSync(node, copiedNode);
  } catch {
    // It is on another file system.
    copyFileSync(node, copiedNode);
  }
  return { folder: copy, node: copiedNode };
}

function isReadableByAll(path: string): boolean {
  if ((statSync(path).mode & 0o005) !== 0o005) return false;
  for (let parent = dirname(path); parent !== dirname(parent); parent = dirname(parent)) {
    if ((statSync(parent).mode & 0o001) === 0) return false;
  }
  return true;
}
