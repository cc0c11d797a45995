import { Buffer } from "node:buffer";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { SessionFile, type SessionTruncated } from "./session-file.ts";

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
    paths: { id: "s", file: getPath(), lock: join(folder, "s.lock") },
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

const outdated = expect.stringContaining("has changed in its store since it was read");

describe("SessionFile", () => {
  test("holds its lock from the first write until it is closed", async () => {
    const file = openFile();
    expect(file.isLocked).toBe(false);
    await file.append(Buffer.from("{}\n"), undefined);
    expect(file.isLocked).toBe(true);
    await file.close();
    expect(file.isLocked).toBe(false);
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
    await held.append(Buffer.from("1\n"), undefined);
    const late = createWriter(waiting, 0);
    expect(await late("x")).toContain("is being written by another store");
    await held.close();
    expect(await late("x")).toEqual(outdated);
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
