import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { filesIn } from "./support/files-in.ts";
import { openPool, testDatabases } from "./support/fleet/blob-database.ts";
import type { MachineOrder } from "./support/fleet/machine-order.ts";
import { hostSandbox } from "./support/host-sandbox.ts";
import { temporaryTree } from "./support/temporary-tree.ts";

const MOUNTED = {
  "log.txt": "zero\n",
  "same.txt": "same",
  "old.txt": "old",
  "deep/er/file": "deep",
};

/** Changes files with code and with a call, twice. It goes by the conversation, in every process. */
function chooseActions(items: readonly object[]): readonly ModelAction[] {
  const types = items.map((item) => Object(item).type);
  const calls = types.filter((type) => type === "function_call_output").length;
  if (calls === 2) return [{ say: "Done." }];
  if (types.at(-1) === "code_interpreter_call") return [{ call: { name: "append", args: {} } }];
  const lines = [
    "import os, pathlib",
    `print("code ${calls}", file=open("/mnt/data/p/log.txt", "a"))`,
    `pathlib.Path("/mnt/data/p/new-${calls}.txt").write_text("new ${calls}")`,
    'pathlib.Path("/mnt/data/p/old.txt").unlink(missing_ok=True)',
  ];
  return [{ code: lines.join("\n") }];
}

const SUCCESS = { signal: null, code: 0, errorOutput: "" };
const KILLED = { signal: "SIGKILL", code: null, errorOutput: "" };
const RESULT = {
  "p/deep/er/file": "deep",
  "p/log.txt": "zero\ncode 0\nline\ncode 1\nline\n",
  "p/new-0.txt": "new 0",
  "p/new-1.txt": "new 1",
  "p/same.txt": "same",
};

describe.each(testDatabases)(
  "a run on two machines, with %s",
  { timeout: 300_000 },
  (name, _, isThere) => {
    if (!isThere) {
      test.skip("needs WINK_POSTGRES, see scripts/with-postgres.ts", () => {});
      return;
    }
    const schemas: string[] = [];
    let provider: LocalProvider;
    let url: string;
    beforeAll(async () => {
      const model = scriptedModel(({ items }) => chooseActions(items));
      provider = new LocalProvider({ sandbox: hostSandbox(), model });
      ({ url } = await provider.listen());
    });
    afterAll(async () => {
      await provider.close();
      if (name === "PGlite") return;
      const { sql, close } = openPool();
      for (const schema of schemas) await sql.query(`drop schema if exists "${schema}" cascade`);
      await close();
    });

    /** Creates a run in a new database, and returns how to work on it on a machine. */
    const createRun = () => {
      const schema = `machines_${randomBytes(4).toString("hex")}`;
      schemas.push(schema);
      const database = name === "PGlite" ? join(temporaryTree(), "database") : null;
      const base = { url, database, schema };
      return (disk: string, killAt: MachineOrder["killAt"]) => runOn({ ...base, disk, killAt });
    };

    test("has the files of all its turns if it is not killed", async () => {
      const disk = createDisk(MOUNTED);
      expect(await createRun()(disk, null)).toEqual(SUCCESS);
      expectFinished(disk);
    });

    test.each([
      ["its mounts are stored", { barrier: "workspace-kept", nth: 1 }, false],
      ["its first turn is stored", { barrier: "turn-completed", nth: 1 }, false],
      [
        "its second turn is stored and its container has expired",
        { barrier: "turn-completed", nth: 2 },
        true,
      ],
      [
        "its last turn is stored and its container has expired",
        { barrier: "turn-completed", nth: 3 },
        true,
      ],
      ["its answer is stored and its container has expired", { barrier: "executed", nth: 1 }, true],
    ] as const)(
      "has the same files if the other one has neither its disk nor the mounted folder, after a kill when %s",
      async (_when, killAt, isContainerGone) => {
        const runOnMachine = createRun();
        const first = createDisk(MOUNTED);
        expect(await runOnMachine(first, killAt)).toEqual(KILLED);
        rmSync(first, { recursive: true });
        if (isContainerGone) await deleteContainers(url);
        const second = createDisk({});
        expect(await runOnMachine(second, null)).toEqual(SUCCESS);
        expectFinished(second);
      },
    );

    test("has the same files if it is killed on every machine", async () => {
      const runOnMachine = createRun();
      for (const [index, barrier] of ["turn-completed", "turn-completed", "executed"].entries()) {
        const disk = createDisk(index === 0 ? MOUNTED : {});
        const killed = await runOnMachine(disk, { barrier, nth: index === 1 ? 2 : 1 });
        expect(killed).toEqual(KILLED);
        rmSync(disk, { recursive: true });
        await deleteContainers(url);
      }
      const last = createDisk({});
      expect(await runOnMachine(last, null)).toEqual(SUCCESS);
      expectFinished(last);
    });
  },
);

/** Creates a folder for a machine, with the host's folder `mount` if it has files. */
function createDisk(mounted: Readonly<Record<string, string>>): string {
  const files = Object.entries(mounted).map(([path, text]) => [`mount/${path}`, text] as const);
  const disk = temporaryTree(Object.fromEntries(files));
  mkdirSync(join(disk, "tmp"));
  return disk;
}

function expectFinished(disk: string): void {
  expect(JSON.parse(readFileSync(join(disk, "answer.json"), "utf8"))).toEqual({
    text: "Done.",
    diff: ["changed p/log.txt", "added p/new-0.txt", "added p/new-1.txt", "deleted p/old.txt"],
    failed: [],
    conflicts: [],
  });
  expect(filesIn(join(disk, "result"))).toEqual(RESULT);
}

const script = fileURLToPath(new URL("./support/fleet/machine-main.ts", import.meta.url));

/** Runs a process that can use only this machine's disk for temporary files. */
async function runOn(order: MachineOrder) {
  const env = { ...process.env, TMPDIR: join(order.disk, "tmp") };
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ["ignore", "ignore", "pipe"],
    env,
  });
  let errorOutput = "";
  child.stderr.on("data", (text) => {
    errorOutput += text;
  });
  await once(child, "close");
  return { signal: child.signalCode, code: child.exitCode, errorOutput };
}

async function deleteContainers(url: string): Promise<void> {
  const response = await fetch(`${url}/containers?limit=100`);
  const page: { data: readonly { id: string }[] } = await response.json();
  for (const { id } of page.data) await fetch(`${url}/containers/${id}`, { method: "DELETE" });
}
