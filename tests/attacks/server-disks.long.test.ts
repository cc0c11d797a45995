import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { attempt } from "../support/attacks/attempt.ts";
import { hostSandbox } from "../support/host-sandbox.ts";

const isRoot = process.getuid?.() === 0;

/** Mounts a small disk in memory. Only root can. */
function mountSmallDisk(mebibytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-test-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=700`, "tmpfs", folder]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Fills a disk to the last block. */
function fill(folder: string): void {
  try {
    for (let count = 0; ; count++)
      writeFileSync(join(folder, `full-${count}`), Buffer.alloc(2 ** 16));
  } catch {
    // It is full. The rest of the last block:
    try {
      for (let count = 0; ; count++)
        writeFileSync(join(folder, `fuller-${count}`), Buffer.alloc(4096));
    } catch {
      // now
    }
  }
}

const TURN = { model: "any", input: "Hi." };
const PYTHON = { type: "code_interpreter", container: { type: "auto" } };

/** Sends every kind of request that writes. Returns the answers without a remedy. */
async function sendWrites(provider: LocalProvider, folder: string): Promise<readonly string[]> {
  const through: string[] = [];
  const send = async (path: string, init: RequestInit) => {
    const response = await provider.fetch(`http://local/v1/${path}`, { method: "POST", ...init });
    const text = await response.text();
    if (response.status < 400 && !text.includes("event: ")) return; // it needed no space
    if (!text.includes(folder) || !text.includes("dataDir"))
      through.push(`${path} ${text.slice(0, 300)}`);
  };
  const toBody = (value: object) => ({ body: JSON.stringify(value) });
  await send("responses", toBody(TURN));
  await send("responses", toBody({ ...TURN, background: true }));
  await send("responses", toBody({ ...TURN, tools: [PYTHON] }));
  await send("conversations", toBody({}));
  await send("containers", toBody({ name: "a" }));
  await send("vector_stores", toBody({ name: "a" }));
  await send(
    "uploads",
    toBody({ filename: "a", bytes: 9, purpose: "assistants", mime_type: "text/plain" }),
  );
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new Blob([Buffer.alloc(2 ** 20)]), "a.txt");
  await send("files", { body: form });
  return through;
}

attempt(
  {
    finding: "C10",
    surface: "server",
    as: "root",
    tries: "requests on a full disk get messages without the place or the remedy",
    shows: "Every error names the data folder and says to free space or use another dataDir.",
  },
  async () => {
    const folder = mountSmallDisk(4);
    const faults: unknown[] = [];
    await using provider = new LocalProvider({
      dataDir: folder,
      sandbox: hostSandbox(),
      model: scriptedModel(({ tools, items }) =>
        tools.length > 0 && items.length === 1 ? [{ code: "1" }] : [{ say: "x".repeat(100_000) }],
      ),
      onFault: (error) => void faults.push(error),
    });
    await (await provider.fetch("http://local/v1/models")).text();
    fill(folder);
    const through = await sendWrites(provider, folder);
    return { tried: 8, through };
  },
  { skip: !isRoot, timeout: 60_000 },
);

attempt(
  {
    finding: "C10",
    surface: "server",
    as: "root",
    tries:
      "a provider starts on a full or a read-only disk and fails without the place or the remedy",
    shows: "The error is about dataDir, names the folder, and says what to do.",
  },
  async () => {
    const through: string[] = [];
    const check = async (folder: string) => {
      await using provider = new LocalProvider({ dataDir: join(folder, "data") });
      const outcome = await provider.fetch("http://local/v1/models").then(
        () => "started",
        (error: Error) => error.message,
      );
      if (!/dataDir must be .*use another folder/is.test(outcome)) through.push(outcome);
    };
    const full = mountSmallDisk(1);
    fill(full);
    await check(full);
    const readOnly = mountSmallDisk(1);
    execFileSync("mount", ["-o", "remount,ro", readOnly]);
    await check(readOnly);
    return { tried: 2, through };
  },
  { skip: !isRoot },
);
