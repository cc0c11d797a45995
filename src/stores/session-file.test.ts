import { Buffer } from "node:buffer";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import type { SessionTruncated } from "./hold-session-file.ts";
import { SessionFile } from "./session-file.ts";
import { getSessionPaths } from "./session-file-name.ts";

let folder: string;
let truncations: SessionTruncated[];
let files: SessionFile[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-file-"));
  truncations = [];
  files = [];
});
afterEach(async () => {
  for (const file of files) await file.close();
  await rm(folder, { recursive: true });
});

const getPath = () => join(folder, "s.jsonl");

function openFile(): SessionFile {
  const file = new SessionFile({
    paths: getSessionPaths(folder, "s"),
    clock: systemClock,
    onTruncated: (cut) => void truncations.push(cut),
  });
  files.push(file);
  return file;
}

/** Returns a function that appends as a writer which expects `known` records. */
function createWriter(file: SessionFile, known: number) {
  const writer = {};
  let position = known;
  return (text: string): Promise<string> => {
    const appended = file.append(Buffer.from(`${text}\n`), { writer, position });
    position += 1;
    return appended.then(
      () => "kept",
      (error: Error) => error.message,
    );
  };
}

/** Reads a value in each round of the event loop until `work` has ended. A timer would miss what lasts under 1 ms. */
async function watchUntil(work: Promise<unknown>, read: () => boolean): Promise<Set<boolean>> {
  const seen = new Set<boolean>();
  let watching = true;
  const watch = () => {
    seen.add(read());
    if (watching) setImmediate(watch);
  };
  watch();
  await work.finally(() => {
    watching = false;
  });
  return seen;
}

const outdated = expect.stringContaining("has changed in its store since it was read");

describe("SessionFile", () => {
  test("holds its lock during a write, and from a claim until its end", async () => {
    const file = openFile();
    const written = file.append(Buffer.from("{}\n"), undefined);
    const seen = await watchUntil(written, () => file.isLocked);
    expect([seen.has(true), file.isLocked]).toEqual([true, false]);
    await file.append(Buffer.from("{}\n"), undefined);
    const claim = await file.claim("me");
    expect([file.isLocked, claim.records]).toEqual([true, 2]);
    await claim.release();
    expect(file.isLocked).toBe(false);
    await file.claim("me");
    await file.close();
    expect(file.isLocked).toBe(false);
  });

  test("refuses the holder's writes after another process has taken its lock away", async () => {
    const [held, other] = [openFile(), openFile()];
    const { fence } = await held.claim("zombie");
    await rm(getSessionPaths(folder, "s").lock, { recursive: true });
    const next = await other.claim("successor");
    expect(next.fence).toBeGreaterThan(fence);
    const by = { writer: {}, position: 0 };
    const late = held.append(Buffer.from("x\n"), { ...by, fence });
    await expect(late).rejects.toThrow('The claim on session "s" has ended. Another writer may');
    const checkpoint = held.writeCheckpoint(Buffer.from("{}"), { ...by, fence });
    await expect(checkpoint).rejects.toThrow("has ended");
    await other.append(Buffer.from("1\n"), { ...by, fence: next.fence });
    expect(await readFile(getPath(), "utf8")).toBe("1\n");
  });

  test("does not read the file again for a claim while no other writer has claimed it", async () => {
    const [file, other] = [openFile(), openFile()];
    await file.append(Buffer.from("1\n"), undefined);
    await appendFile(getPath(), "2\n"); // by a program that ignores the claims
    const unread = await file.claim("me");
    expect(unread.records).toBe(1);
    await unread.release();
    await (await other.claim("other")).release();
    const read = await file.claim("me");
    expect(read.records).toBe(2);
    await read.release();
  });

  test("runs operations in the order of the calls", async () => {
    const file = openFile();
    const done = [
      file.append(Buffer.from("1\n"), undefined),
      file.remove(),
      file.append(Buffer.from("2\n"), undefined),
      file.append(Buffer.from("3\n"), undefined),
      file.close(),
    ];
    await Promise.all(done);
    expect(await readFile(getPath(), "utf8")).toBe("2\n3\n");
  });

  test("reports and removes an incomplete record before it writes", async () => {
    await writeFile(getPath(), "1\n2");
    await openFile().append(Buffer.from("3\n"), undefined);
    expect(await readFile(getPath(), "utf8")).toBe("1\n3\n");
    expect(truncations).toEqual([{ sessionId: "s", path: getPath(), records: 1, bytes: 1 }]);
  });
});

describe("SessionFile with two writers", () => {
  test("accepts the writer with current data and rejects the other", async () => {
    const file = openFile();
    const one = createWriter(file, 0);
    expect(await one("1")).toBe("kept");
    const other = createWriter(file, 1);
    expect(await other("2")).toBe("kept");
    expect(await Promise.all([one("x"), one("x"), one("x"), other("3")])).toEqual([
      outdated,
      outdated,
      outdated,
      "kept",
    ]);
    expect(await readFile(getPath(), "utf8")).toBe("1\n2\n3\n");
  });

  test("accepts an anonymous writer and rejects the previous one", async () => {
    const file = openFile();
    const one = createWriter(file, 0);
    expect(await one("1")).toBe("kept");
    await file.append(Buffer.from("2\n"), undefined);
    expect(await one("x")).toEqual(outdated);
  });

  test("keeps rejecting a rejected writer even if its position becomes correct", async () => {
    const [held, waiting] = [openFile(), openFile()];
    const claim = await held.claim("another store");
    const late = createWriter(waiting, 0);
    expect(await late("x")).toContain("is held by another store since ");
    await claim.release();
    expect(await late("x")).toEqual(outdated);
    await held.append(Buffer.from("1\n"), undefined);
    expect(await readFile(getPath(), "utf8")).toBe("1\n");
  });

  test("keeps rejecting the writers of a deleted file", async () => {
    const file = openFile();
    const [first, second] = [createWriter(file, 0), createWriter(file, 1)];
    expect([await first("1"), await second("2")]).toEqual(["kept", "kept"]);
    await file.remove();
    const third = createWriter(file, 0);
    expect(await third("1")).toBe("kept");
    expect(await first("x")).toEqual(outdated); // its position also is one
    expect(await third("2")).toBe("kept");
    expect(await second("x")).toEqual(outdated); // its position also is two
    expect(await readFile(getPath(), "utf8")).toBe("1\n2\n");
  });
});
