import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ModelScript } from "weakincentives/local";
import { bubblewrapSandbox } from "../../src/local/sandbox/bubblewrap/bubblewrap.ts";
import type { SandboxChoice } from "../../src/local/sandbox/choose-sandbox.ts";
import { wasmSandbox } from "../../src/local/sandbox/wasm/wasm.ts";
import { itemOf, type Stage, stage } from "../support/local/stage.ts";

const bubblewrap = await bubblewrapSandbox().probe();
const wasm = await wasmSandbox().probe();

/** Runs what it is asked to, and is done. */
const obedient: ModelScript = ({ text, items }) => {
  const last = items.at(-1) ?? {};
  const type = "type" in last ? last.type : null;
  if (type === "code_interpreter_call" || type === "shell_call_output") return [{ say: "Done." }];
  return text.startsWith("$ ") ? [{ shell: [text.slice(2)] }] : [{ code: text }];
};

/** How a client asks before it leaves. */
const ways = [
  ["a blocking", { stream: false }],
  ["a streamed", { stream: true }],
] as const;

describe.skipIf(!bubblewrap.usable)("a client that leaves, in bubblewrap,", () => {
  test.each(ways)(
    "ends the code of %s turn; what it had set is kept",
    async (_way, how) => {
      const { leave, print, files } = await client("bubblewrap");
      const marker = randomUUID();
      expect(await print("kept = 1\nprint(kept)")).toBe("1\n");
      const code = `kept = 2
open("made.txt", "w").close()
import subprocess
subprocess.run(["sh", "-c", "sleep 60; : ${marker}"])
kept = 3`;
      await leave(code, how, () => running(marker) > 0);
      await expect.poll(() => running(marker)).toBe(0);
      // The interpreter was interrupted and goes on, with all it held at that moment.
      expect(await print("print(kept)")).toBe("2\n");
      expect(await files()).toEqual(["/mnt/data/made.txt"]);
    },
    20_000,
  );

  test("ends code that waits for nothing but time", async () => {
    const { leave, print, files } = await client("bubblewrap");
    const code = "open('made.txt', 'w').close()\nimport time\nkept = 2\ntime.sleep(60)";
    await leave(code, { stream: false }, async () => (await files()).length > 0);
    const left = performance.now();
    expect(await print("print(kept)")).toBe("2\n");
    expect(performance.now() - left).toBeLessThan(2_000);
  });

  test("ends code that does not hear of it; what it had set is lost, its files are not", async () => {
    const { leave, print, files } = await client("bubblewrap");
    const marker = randomUUID();
    const code = `kept = 2
open("made.txt", "w").close()
import signal, subprocess
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.run(["sh", "-c", "sleep 60; : ${marker}"])`;
    await leave(code, { stream: false }, () => running(marker) > 0);
    await expect.poll(() => running(marker)).toBe(0);
    expect(await print("print('kept' in globals())")).toBe("False\n");
    expect(await files()).toEqual(["/mnt/data/made.txt"]);
  });

  test.each(ways)(
    "ends the command of %s turn; the interpreter minds nothing",
    async (_way, how) => {
      const { leave, print, files } = await client("bubblewrap");
      const marker = randomUUID();
      expect(await print("kept = 1\nprint(kept)")).toBe("1\n");
      const command = `$ touch made.txt; (sleep 60; : ${marker}) & sleep 60; : ${marker}`;
      // The shell has the marker in its arguments before it has done anything.
      await leave(command, how, async () => running(marker) > 0 && (await files()).length > 0);
      await expect.poll(() => running(marker)).toBe(0);
      expect(await print("print(kept)")).toBe("1\n");
      expect(await files()).toEqual(["/mnt/data/made.txt"]);
    },
    20_000,
  );
});

describe.skipIf(!wasm.usable || process.platform !== "linux")(
  "a client that leaves, in wasm,",
  () => {
    test.each(ways)(
      "ends the interpreter of %s turn; files of runs before it are kept, and nothing else",
      async (_way, how) => {
        const tried = { ...wasmSandbox(), probe: async () => wasm };
        const { leave, print, files } = await client(tried);
        expect(await print("kept = 1\nopen('early.txt', 'w').close()\nprint(kept)")).toBe("1\n");
        const [interpreter] = interpreters();
        expect(interpreter).toBeDefined();
        const code = "kept = 2\nopen('late.txt', 'w').close()\nwhile True: pass";
        await leave(code, how, () => pause(300, true)); // it tells nobody that it runs
        const isAlive = () => interpreters().includes(interpreter ?? "");
        await expect.poll(isAlive).toBe(false);
        expect(await print("print('kept' in globals())")).toBe("False\n");
        expect(await files()).toEqual(["/mnt/data/early.txt"]);
      },
      60_000,
    );
  },
);

/** One that has a container of its own, over a real socket. Its server must find nothing odd. */
async function client(sandbox: SandboxChoice) {
  const faults: unknown[] = [];
  const on = await stage(obedient, { sandbox, onFault: (error) => void faults.push(error) });
  const { body: container } = await on.ask("POST /containers", { name: "left" });
  const id = String(container["id"]);
  const environment = { type: "container_reference", container_id: id };
  const tools = [
    { type: "code_interpreter", container: id },
    { type: "shell", environment },
  ];
  return {
    leave: (input: string, how: object, hasBegun: () => boolean | Promise<boolean>) =>
      askAndLeave(on, { input, tools, ...how }, hasBegun),
    /** What code prints that is run to its end. */
    print: async (input: string) => {
      const include = ["code_interpreter_call.outputs"];
      const response = await on.respond({ input, tools, include });
      const { outputs } = itemOf(response, "code_interpreter_call");
      expect(faults).toEqual([]);
      return Object(outputs)[0]?.logs;
    },
    files: async () => {
      const { body } = await on.ask(`GET /containers/${id}/files`);
      return (body["data"] as readonly { readonly path: string }[]).map(({ path }) => path);
    },
  };
}

/** Ends the connection once the run has begun. */
async function askAndLeave(
  { url }: Stage,
  body: object,
  hasBegun: () => boolean | Promise<boolean>,
): Promise<void> {
  const leaving = new AbortController();
  const answer = fetch(`${url}/responses`, {
    method: "POST",
    body: JSON.stringify({ model: "any", ...body }),
    signal: leaving.signal,
  }).then((response) => response.text());
  const outcome = expect(answer).rejects.toThrow("Enough");
  await expect.poll(hasBegun).toBe(true);
  leaving.abort(new Error("Enough"));
  await outcome;
}

/** How many processes have this in their command line. */
function running(marker: string): number {
  return processes().filter(({ command }) => command.includes(marker)).length;
}

/** The wasm interpreters that were started from here. */
function interpreters(): readonly string[] {
  return processes()
    .filter(({ command }) => command.includes("wasm/kernel-main"))
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid);
}

function processes() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        const parent = /\nPPid:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return [{ pid, command, parent: Number(parent) }];
      } catch {
        return []; // it has just ended
      }
    });
}
