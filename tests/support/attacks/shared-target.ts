import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { SandboxProcess } from "../../../src/local/sandbox/sandbox.ts";
import { MEBIBYTE } from "./bubblewrap-target.ts";
import type { TargetEngine } from "./docker-target.ts";
import { openAsUser } from "./open-as-user.ts";

/** A container that several attacks share, because starting one takes a while. */
export interface SharedTarget {
  /** The container's folder on the host. */
  readonly root: string;
  /** Runs Python and returns the lines of its output. */
  attack(code: string): Promise<readonly string[]>;
}

/** Opens a container for all tests of the current `describe`. */
export function shareTarget({ as, sandbox }: TargetEngine): SharedTarget {
  const root = mkdtempSync(join(tmpdir(), "wink-shared-"));
  let container: SandboxProcess | undefined;
  beforeAll(async () => {
    const options = { root, memoryBytes: 300 * MEBIBYTE, diskBytes: 64 * MEBIBYTE };
    const isOtherUser = as === "user" && process.getuid?.() === 0;
    container = isOtherUser
      ? await openAsUser(sandbox, options)
      : await sandbox.create().open(options);
  }, 60_000);
  afterAll(async () => {
    await container?.[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    async attack(code) {
      if (container === undefined) throw new Error("The container is not open.");
      const run = await container.python(code, { timeoutMs: 20_000, maxOutputBytes: 100_000 });
      if (run.error !== null) throw new Error(`The attack itself failed: ${run.error}`);
      return run.stdout.split("\n").filter(Boolean);
    },
  };
}
