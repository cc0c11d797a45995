import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { BUBBLEWRAP, chooseBarrier, NO_BARRIER } from "./barrier.ts";
import { WasmFolder } from "./folder.ts";
import { encodeFrame } from "./frames.ts";
import { WasmProcess } from "./process.ts";

const LIMITS = { diskBytes: 1_000_000, maxFiles: 10 };
const RUN = { timeoutMs: 10_000, maxOutputBytes: 1_000 };

/** JavaScript that sends messages to the host: the first at once, the others when a command arrives. */
function sendMessages(first: object, ...others: readonly object[]): string {
  const send = (message: object) =>
    `fs.writeSync(4, Buffer.from('${encodeFrame(message).toString("hex")}', 'hex'));`;
  return `const fs = process.getBuiltinModule('fs'); ${send(first)}
    fs.readSync(3, Buffer.alloc(8)); ${others.map(send).join("")}
    while (fs.readSync(3, Buffer.alloc(1000)) > 0); process.exit();`;
}

/** Opens a container whose interpreter is a JavaScript program. */
async function openProcess(program: string, barrier = NO_BARRIER): Promise<WasmProcess> {
  const pyodide = temporaryTree();
  await writeFile(
    join(pyodide, "pyodide.mjs"),
    `export async function loadPyodide() { ${program} }`,
  );
  const options = { pyodide, memoryBytes: 64 * 2 ** 20, ...LIMITS };
  return new WasmProcess(options, new WasmFolder(temporaryTree(), LIMITS), async () => barrier);
}

const READY = { type: "ready" };
const ANSWER = [
  { type: "ran", error: null, images: [Buffer.from("png")], timedOut: false },
  { type: "filesSent", rejected: [] },
];

describe("A process of the wasm sandbox", () => {
  test("ends when a message arrives that does not belong to a run", async () => {
    await using container = await openProcess(sendMessages(READY, READY));
    expect(await container.python("1", RUN)).toMatchObject({
      died: true,
      stderr: expect.stringContaining("a message that does not belong to a run"),
    });
  });

  test("does not start after it was disposed of", async () => {
    const container = await openProcess(sendMessages(READY));
    const starting = container.start();
    await container[Symbol.asyncDispose]();
    await expect(starting).rejects.toThrow("was disposed of");
  });

  test("answers from inside bubblewrap, where it works", async (context) => {
    const barrier = await chooseBarrier([BUBBLEWRAP]);
    context.skip(barrier === NO_BARRIER, "bubblewrap does not work here");
    await using container = await openProcess(sendMessages(READY, ...ANSWER), barrier);
    expect(await container.python("1", RUN)).toMatchObject({
      died: false,
      images: [{ mediaType: "image/png", base64: "cG5n" }],
    });
  });
});
