import { Buffer } from "node:buffer";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { SessionFile, type SessionTruncated } from "./session-file.ts";

let folder: string;
let cuts: SessionTruncated[];
let files: SessionFile[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-file-"));
  cuts = [];
  files = [];
});
afterEach(async () => {
  for (const file of files) await file.close();
  await rm(folder, { recursive: true });
});

const path = () => join(folder, "s.jsonl");

function fileHere(): SessionFile {
  const file = new SessionFile({
    paths: { id: "s", file: path(), lock: join(folder, "s.lock") },
    clock: systemClock,
    onCut: (cut) => void cuts.push(cut),
  });
  files.push(file);
  return file;
}

/** Somebody with records of its own, who counts from how many there were. */
function writerOf(file: SessionFile, known: number) {
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

const refused = expect.stringContaining("has changed in its store since it was read");

describe("a session's file", () => {
  test("holds its lock from the first write until it is closed", async () => {
    const file = fileHere();
    expect(file.isHeld).toBe(false);
    await file.append(Buffer.from("{}\n"), undefined);
    expect(file.isHeld).toBe(true);
    await file.close();
    expect(file.isHeld).toBe(false);
  });

  test("does what it is asked in that order", async () => {
    const file = fileHere();
    const done = [
      file.append(Buffer.from("1\n"), undefined),
      file.remove(),
      file.append(Buffer.from("2\n"), undefined),
      file.append(Buffer.from("3\n"), undefined),
      file.close(),
    ];
    await Promise.all(done);
    expect(await readFile(path(), "utf8")).toBe("2\n3\n");
  });

  test("loses a cut tail before it is written to, and tells of it first", async () => {
    await writeFile(path(), "1\n2");
    await fileHere().append(Buffer.from("3\n"), undefined);
    expect(await readFile(path(), "utf8")).toBe("1\n3\n");
    expect(cuts).toEqual([{ sessionId: "s", path: path(), records: 1, bytes: 1 }]);
  });
});

describe("of two who write the same file", () => {
  test("the one who knows all there is goes on, and the other does not", async () => {
    const file = fileHere();
    const one = writerOf(file, 0);
    expect(await one("1")).toBe("kept");
    const other = writerOf(file, 1);
    expect(await other("2")).toBe("kept");
    expect(await Promise.all([one("x"), one("x"), one("x"), other("3")])).toEqual([
      refused,
      refused,
      refused,
      "kept",
    ]);
    expect(await readFile(path(), "utf8")).toBe("1\n2\n3\n");
  });

  test("one who says nothing of itself is not held to it", async () => {
    const file = fileHere();
    const one = writerOf(file, 0);
    expect(await one("1")).toBe("kept");
    await file.append(Buffer.from("2\n"), undefined);
    expect(await one("x")).toEqual(refused);
  });

  test("one who was refused stays so, even if its count happens to be right later", async () => {
    const [held, waiting] = [fileHere(), fileHere()];
    await held.append(Buffer.from("1\n"), undefined);
    const late = writerOf(waiting, 0);
    expect(await late("x")).toContain("is being written by another store");
    await held.close();
    expect(await late("x")).toEqual(refused);
    expect(await readFile(path(), "utf8")).toBe("1\n");
  });

  test("one whose file was removed stays out of the next one", async () => {
    const file = fileHere();
    const [first, second] = [writerOf(file, 0), writerOf(file, 1)];
    expect([await first("1"), await second("2")]).toEqual(["kept", "kept"]);
    await file.remove();
    const third = writerOf(file, 0);
    expect(await third("1")).toBe("kept");
    expect(await first("x")).toEqual(refused); // it too knows of one record
    expect(await third("2")).toBe("kept");
    expect(await second("x")).toEqual(refused); // it too knows of two
    expect(await readFile(path(), "utf8")).toBe("1\n2\n");
  });
});
