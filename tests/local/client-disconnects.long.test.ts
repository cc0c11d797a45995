import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ModelScript } from "weakincentives/local";
import { bubblewrapSandbox } from "../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts";
import type { SandboxChoice } from "../../src/local/sandbox/choose-sandbox.ts";
import { wasmSandbox } from "../../src/local/sandbox/wasm/wasm-sandbox.ts";
import {
  findItem,
  type ProviderFixture,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";

const bubblewrap = await bubblewrapSandbox().probe();
const wasm = await wasmSandbox().probe();

/** A model that runs the code or command in the last message, then answers. */
const runLastMessage: ModelScript = ({ text, items }) => {
  const last = items.at(-1) ?? {};
  const type = "type" in last ? last.type : null;
  if (type === "code_interpreter_call" || type === "shell_call_output") return [{ say: "Done." }];
  return text.startsWith("$ ") ? [{ shell: [text.slice(2)] }] : [{ code: text }];
};

/** The request options of each way to leave. */
const ways = [
  ["a blocking", { stream: false }],
  ["a streamed", { stream: true }],
] as const;

describe.skipIf(!bubblewrap.usable)("a client that disconnects, in bubblewrap", () => {
  test.each(ways)(
    "stops the code of %s turn and keeps the interpreter's state",
    async (_way, how) => {
      const { leave, print, files } = await createClient("bubblewrap");
      const marker = randomUUID();
      expect(await print("kept = 1\nprint(kept)")).toBe("1\n");
      const code = `kept = 2
open("made.txt", "w").close()
import subprocess
subprocess.run(["sh", "-c", "sleep 60; : ${marker}"])
kept = 3`;
      await leave(code, how, () => countProcesses(marker) > 0);
      await expect.poll(() => countProcesses(marker)).toBe(0);
      // The interpreter was interrupted and continues with the state of that moment.
      expect(await print("print(kept)")).toBe("2\n");
      expect(await files()).toEqual(["/mnt/data/made.txt"]);
    },
    20_000,
  );

  test("stops code that sleeps", async () => {
    const { leave, print, files } = await createClient("bubblewrap");
    const code = "open('made.txt', 'w').close()\nimport time\nkept = 2\ntime.sleep(60)";
    await leave(code, { stream: false }, async () => (await files()).length > 0);
    const left = performance.now();
    expect(await print("print(kept)")).toBe("2\n");
    expect(performance.now() - left).toBeLessThan(2_000);
  });

  test("kills code that ignores the interrupt; its variables are lost, but its files are kept", async () => {
    const { leave, print, files } = await createClient("bubblewrap");
    const marker = randomUUID();
    const code = `kept = 2
open("made.txt", "w").close()
import signal, subprocess
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.run(["sh", "-c", "sleep 60; : ${marker}"])`;
    await leave(code, { stream: false }, () => countProcesses(marker) > 0);
    await expect.poll(() => countProcesses(marker)).toBe(0);
    expect(await print("print('kept' in globals())")).toBe("False\n");
    expect(await files()).toEqual(["/mnt/data/made.txt"]);
  });

  test.each(ways)(
    "stops the command of %s turn without affecting the interpreter",
    async (_way, how) => {
      const { leave, print, files } = await createClient("bubblewrap");
      const marker = randomUUID();
      expect(await print("kept = 1\nprint(kept)")).toBe("1\n");
      const command = `$ touch made.txt; (sleep 60; : ${marker}) & sleep 60; : ${marker}`;
      // The marker is in the shell's arguments before the command has run.
      await leave(
        command,
        how,
        async () => countProcesses(marker) > 0 && (await files()).length > 0,
      );
      await expect.poll(() => countProcesses(marker)).toBe(0);
      expect(await print("print(kept)")).toBe("1\n");
      expect(await files()).toEqual(["/mnt/data/made.txt"]);
    },
    20_000,
  );
});

describe.skipIf(!wasm.usable || process.platform !== "linux")(
  "a client that disconnects, in wasm",
  () => {
    test.each(ways)(
      "stops the interpreter of %s turn and keeps only the files of earlier runs",
      async (_way, how) => {
        const tried = { ...wasmSandbox(), probe: async () => wasm };
        const { leave, print, files } = await createClient(tried);
        expect(await print("kept = 1\nopen('early.txt', 'w').close()\nprint(kept)")).toBe("1\n");
        const [interpreter] = listInterpreters();
        expect(interpreter).toBeDefined();
        const code = "kept = 2\nopen('late.txt', 'w').close()\nwhile True: pass";
        await leave(code, how, () => pause(300, true)); // the run gives no sign that it has started
        const isAlive = () => listInterpreters().includes(interpreter ?? "");
        await expect.poll(isAlive).toBe(false);
        expect(await print("print('kept' in globals())")).toBe("False\n");
        expect(await files()).toEqual(["/mnt/data/early.txt"]);
      },
      60_000,
    );
  },
);

/** Creates a client with its own container, over a real socket. The server must report no fault. */
async function createClient(sandbox: SandboxChoice) {
  const faults: unknown[] = [];
  const on = await startProviderFixture(runLastMessage, {
    sandbox,
    onFault: (error) => void faults.push(error),
  });
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
    /** Runs code to its end and returns its output. */
    print: async (input: string) => {
      const include = ["code_interpreter_call.outputs"];
      const response = await on.respond({ input, tools, include });
      const { outputs } = findItem(response, "code_interpreter_call");
      expect(faults).toEqual([]);
      return Object(outputs)[0]?.logs;
    },
    files: async () => {
      const { body } = await on.ask(`GET /containers/${id}/files`);
      return (body["data"] as readonly { readonly path: string }[]).map(({ path }) => path);
    },
  };
}

/** Closes the connection once the run has started. */
async function askAndLeave(
  { url }: ProviderFixture,
  body: object,
  hasBegun: () => boolean | Promise<boolean>,
): Promise<void> {
  const leaving = new AbortController();
  const answer = fetch(`${url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "any", ...body }),
    signal: leaving.signal,
  }).then((response) => response.text());
  const outcome = expect(answer).rejects.toThrow("Enough");
  await expect.poll(hasBegun).toBe(true);
  leaving.abort(new Error("Enough"));
  await outcome;
}

/** Counts the processes whose command line contains the marker. */
function countProcesses(marker: string): number {
  return listProcesses().filter(({ command }) => command.includes(marker)).length;
}

/** Lists the wasm interpreters that this process started. */
function listInterpreters(): readonly string[] {
  return listProcesses()
    .filter(({ command }) => command.includes("wasm/kernel/kernel-main"))
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid);
}

function listProcesses() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        const parent = /\nPPid:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        return [{ pid, command, parent: Number(parent) }];
      } catch {
        return []; // the process has just ended
      }
    });
}
