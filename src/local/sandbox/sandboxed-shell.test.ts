import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bubblewrapSandbox } from "./bubblewrap/bubblewrap-sandbox.ts";
import type { RunLimits, Sandbox } from "./sandbox.ts";
import { sandboxedShell } from "./sandboxed-shell.ts";

const { usable, reason } = await bubblewrapSandbox().probe();
if (!usable) process.stderr.write(`Skipped: ${reason}\n`);

const { signal } = new AbortController();
const UNSAID = { timeoutMs: null, maxOutputLength: null, signal };

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "wink-shell-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe.skipIf(!usable)("sandboxedShell()", () => {
  test("runs commands in order in its folder, with one output each", async () => {
    await using shell = sandboxedShell({ root });
    const outputs = await shell.run(["echo hi > a; cat a", "cat a >&2; exit 3"], UNSAID);
    expect(outputs).toEqual([
      { stdout: "hi\n", stderr: "", outcome: { type: "exit", exitCode: 0 } },
      { stdout: "", stderr: "hi\n", outcome: { type: "exit", exitCode: 3 } },
    ]);
    expect(await readFile(join(root, "a"), "utf8")).toBe("hi\n");
  });

  test("reports a timeout and continues with the next command", async () => {
    await using shell = sandboxedShell({ root, sandbox: "bubblewrap" });
    const outputs = await shell.run(["sleep 60", "echo next"], { ...UNSAID, timeoutMs: 300 });
    expect(outputs.map(({ outcome }) => outcome.type)).toEqual(["timeout", "exit"]);
  });

  test("limits the output to the requested length", async () => {
    await using shell = sandboxedShell({ root });
    const [output] = await shell.run(["echo 123456"], { ...UNSAID, maxOutputLength: 3 });
    expect(output?.stdout).toBe("123");
  });
});

describe("sandboxedShell() with a custom sandbox", () => {
  function createRecordingSandbox(fails = 0) {
    const seen: RunLimits[] = [];
    const opened: object[] = [];
    let closed = 0;
    const sandbox: Sandbox = {
      name: "own",
      isolation: "none",
      probe: async () => ({ usable: true, reason: "it is ours" }),
      open: async (options) => {
        opened.push(options);
        if (opened.length <= fails) throw new Error("not yet");
        return {
          python: () => Promise.reject(new Error("no Python here")),
          shell: async (_command, limits) => {
            seen.push(limits);
            const nothing = { stdout: "", stderr: "", timedOut: false, truncated: false };
            return { ...nothing, exitCode: 0 };
          },
          [Symbol.asyncDispose]: async () => {
            closed += 1;
          },
        };
      },
    };
    return { sandbox, seen, opened, closed: () => closed };
  }

  test("opens one process for all runs, with defaults of a minute, a megabyte and a gibibyte", async () => {
    const { sandbox, seen, opened, closed } = createRecordingSandbox();
    {
      await using shell = sandboxedShell({ root, sandbox });
      await Promise.all([shell.run(["a"], UNSAID), shell.run(["b"], UNSAID)]);
    }
    expect(opened).toMatchObject([{ root, memoryBytes: 2 ** 30 }]);
    expect(seen).toEqual(Array(2).fill({ timeoutMs: 60_000, maxOutputBytes: 1_000_000, signal }));
    expect(closed()).toBe(1);
  });

  test("cancels a start in progress when it is disposed of", async () => {
    const { sandbox } = createRecordingSandbox();
    const opening = Promise.withResolvers<AbortSignal | undefined>();
    const open: Sandbox["open"] = ({ signal: over }) => {
      opening.resolve(over);
      return new Promise((_resolve, reject) => {
        over?.addEventListener("abort", () => reject(over.reason));
      });
    };
    const shell = sandboxedShell({ root, sandbox: { ...sandbox, open } });
    const outcome = expect(shell.run(["a"], UNSAID)).rejects.toThrow("was disposed of");
    await opening.promise;
    await shell[Symbol.asyncDispose]();
    await outcome;
  });

  test("retries after a failed start, and can be disposed of without a start", async () => {
    const { sandbox, opened } = createRecordingSandbox(1);
    await using shell = sandboxedShell({ root, sandbox, memoryBytes: 5 });
    await expect(shell.run(["a"], UNSAID)).rejects.toThrow("not yet");
    expect(await shell.run(["a"], UNSAID)).toHaveLength(1);
    expect(opened).toHaveLength(2);
    await using unused = sandboxedShell({ root, sandbox });
    await expect(
      unused.run(["a"], { ...UNSAID, signal: AbortSignal.abort(new Error("no")) }),
    ).rejects.toThrow("no");
  });
});
