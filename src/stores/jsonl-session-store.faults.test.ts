import {
  appendFile,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { logSlice } from "../session/log-slice.ts";
import { Session } from "../session/session.ts";
import { SessionStoreError } from "../session/session-store.ts";
import { defineSlice } from "../session/slice.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";
import type { SessionTruncated } from "./session-file.ts";

interface BrickFired {
  readonly type: "BrickFired";
  readonly kg: number;
}

declare module "../session/event-map.ts" {
  interface EventMap {
    BrickFired: BrickFired;
  }
}

const fired = (kg: number): BrickFired => ({ type: "BrickFired", kg });
const kiln = defineSlice<readonly number[]>("kiln", {
  initial: [],
  on: { BrickFired: (bricks, { kg }) => [...bricks, kg] },
});
const firings = logSlice("firings", "BrickFired");
const slices = [kiln, firings];

let directory: string;
let cuts: SessionTruncated[];
let opened: JsonlSessionStore[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "wink-store-"));
  cuts = [];
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  await rm(directory, { recursive: true });
  vi.restoreAllMocks();
});

function storeIn(place = directory): JsonlSessionStore {
  const store = new JsonlSessionStore(place, { onRepair: (cut) => void cuts.push(cut) });
  opened.push(store);
  return store;
}

const fileOf = (id: string) => join(directory, `${id}.jsonl`);

async function recordsOf(store: JsonlSessionStore, id: string): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

describe("a write that fails", () => {
  /** Writes half of what it is given, as a full disk does. */
  async function fillTheDisk(): Promise<void> {
    const handle = await handlePrototype();
    const { appendFile: write } = handle;
    vi.spyOn(handle, "appendFile").mockImplementationOnce(async function (this: FileHandle, all) {
      const bytes = Buffer.isBuffer(all) ? all : Buffer.of();
      await write.call(this, bytes.subarray(0, bytes.length / 2));
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    });
  }

  test("rejects with its cause, and leaves what was there", async () => {
    const store = storeIn();
    await store.append("a", { n: 1 });
    await fillTheDisk();
    const failed = Promise.allSettled([store.append("a", { n: 2 }), store.append("a", { n: 3 })]);
    for (const outcome of await failed) {
      expect(outcome).toMatchObject({
        reason: {
          name: "SessionStoreError",
          sessionId: "a",
          message: expect.stringMatching(
            /^Session "a" could not be written \(.*a\.jsonl\): ENOSPC.*make room or give access/,
          ),
          cause: { code: "ENOSPC" },
        },
      });
    }
    expect(await readFile(fileOf("a"), "utf8")).toBe('{"n":1}\n');
    await store.append("a", { n: 4 });
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 4 }]);
    expect(cuts).toEqual([]);
  });

  test("that cannot even be taken back is cut off later, and told", async () => {
    const store = storeIn();
    await store.append("a", { n: 1 });
    await fillTheDisk();
    const truncating = vi
      .spyOn(await handlePrototype(), "truncate")
      .mockRejectedValueOnce(new Error("EIO"));
    await expect(store.append("a", { n: 2 })).rejects.toThrow("ENOSPC");
    truncating.mockRestore();
    expect(await readFile(fileOf("a"), "utf8")).toBe('{"n":1}\n{"n"');
    await store.append("a", { n: 3 });
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 3 }]);
    expect(cuts).toEqual([{ sessionId: "a", path: fileOf("a"), records: 1, bytes: 4 }]);
  });

  test("ends the storing of its session, which goes on from what was kept", async () => {
    const store = storeIn();
    const session = new Session({ id: "s", store }).register(kiln).register(firings);
    session.dispatch(fired(1));
    await session.flush();
    await fillTheDisk();
    session.dispatch(fired(2));
    await expect(session.flush()).rejects.toThrow("ENOSPC");
    session.dispatch(fired(3));
    await expect(session.flush()).rejects.toThrow("ENOSPC");
    const again = await Session.open(store, "s", slices);
    again.dispatch(fired(4));
    await again.flush();
    expect((await Session.open(store, "s", slices)).get(kiln)).toEqual([1, 4]);
  });

  test("leaves no gap before what was sent while it failed", async () => {
    const store = storeIn();
    const writer = {};
    const append = (position: number) =>
      store.append("a", { n: position }, { writer, position }).then(
        () => "kept",
        () => "refused",
      );
    const first = append(0);
    await first;
    await fillTheDisk();
    const outcomes = [append(1)];
    for (let turn = 0; turn < 30; turn++) {
      await new Promise(setImmediate);
      outcomes.push(append(turn + 2));
    }
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["refused"]));
    expect(await recordsOf(store, "a")).toEqual([{ n: 0 }]);
  });

  test("because a file is where the directory should be says so", async () => {
    const place = join(directory, "file");
    await writeFile(place, "");
    const store = storeIn(place);
    const wrong: readonly (() => Promise<unknown>)[] = [
      () => store.append("a", {}),
      () => recordsOf(store, "a"),
      () => store.list(),
      () => store.delete("a"),
    ];
    for (const ask of wrong) {
      await expect(ask()).rejects.toThrow(SessionStoreError);
      await expect(ask()).rejects.toMatchObject({ cause: { code: expect.stringMatching(/^E/) } });
    }
    expect(await readFile(place, "utf8")).toBe("");
  });

  test("because a folder is where the file should be says so", async () => {
    const store = storeIn();
    await mkdir(fileOf("a"));
    for (const ask of [
      () => store.append("a", {}),
      () => recordsOf(store, "a"),
      () => store.list(),
      () => store.delete("a"),
    ]) {
      await expect(ask()).rejects.toThrow(SessionStoreError);
    }
    expect(await readdir(directory)).toEqual(["a.jsonl"]); // no lock is left
  });
});

describe("a file that ends within a record", () => {
  const half = '{"n":1}\n{"n":2}\n{"n"';

  test("is read up to its last whole record, and told of once", async () => {
    await writeFile(fileOf("a"), half);
    const store = storeIn();
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
    expect(cuts).toEqual([{ sessionId: "a", path: fileOf("a"), records: 2, bytes: 4 }]);
    expect(cuts[0]).toSatisfy(Object.isFrozen);
    expect(await readFile(fileOf("a"), "utf8")).toBe(half); // nothing is removed yet
    await store.append("a", { n: 3 });
    expect(await readFile(fileOf("a"), "utf8")).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
    expect(cuts).toHaveLength(1);
  });

  test("is told of by the first to write, if nobody read it", async () => {
    await writeFile(fileOf("a"), half);
    await storeIn().append("a", { n: 3 });
    expect(cuts).toMatchObject([{ records: 2, bytes: 4 }]);
  });

  test("is told of again when it is cut again", async () => {
    const store = storeIn();
    await writeFile(fileOf("a"), half);
    await store.append("a", { n: 3 });
    await store.close();
    await truncate(fileOf("a"), 20);
    expect(await recordsOf(store, "a")).toHaveLength(2);
    expect(cuts).toHaveLength(2);
  });

  test("is told of by a process warning, unless one asks for it", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await writeFile(fileOf("a"), half);
    await recordsOf(new JsonlSessionStore(directory), "a");
    expect(warned.mock.calls).toEqual([
      [
        `Session "a" goes on from its 2 whole records: ${fileOf("a")} ends within another one, ` +
          "whose 4 bytes are left out",
        "WinkWarning",
      ],
    ]);
  });

  test("is repaired also where the one who asked for it fails", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await writeFile(fileOf("a"), half);
    const onRepair = () => {
      throw new Error("boom");
    };
    await using store = new JsonlSessionStore(directory, { onRepair });
    await store.append("a", { n: 3 });
    expect(await recordsOf(store, "a")).toHaveLength(3);
    expect(warned.mock.calls).toEqual([
      ["onRepair of a session store failed: boom", "WinkWarning"],
    ]);
  });

  test("is not told of while somebody writes it", async () => {
    const writer = storeIn();
    await writer.append("a", { n: 1 });
    await appendFile(fileOf("a"), '{"n"'); // as a write under way looks from outside
    expect(await recordsOf(storeIn(), "a")).toEqual([{ n: 1 }]);
    expect(await recordsOf(writer, "a")).toEqual([{ n: 1 }]);
    expect(cuts).toEqual([]);
  });

  test("within its first record is no session, and may become one", async () => {
    await writeFile(fileOf("s"), '{"n":0,"kind":"sess');
    const store = storeIn();
    await expect(Session.open(store, "s", slices)).rejects.toThrow('There is no session "s"');
    const session = new Session({ id: "s", store }).register(kiln).register(firings);
    session.dispatch(fired(1));
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(kiln)).toEqual([1]);
    expect(cuts).toMatchObject([{ records: 0, bytes: 19 }]);
  });
});

describe("a file that something else has written to", () => {
  test.each([
    ['{"n":1}\ngarbage\n{"n":3}\n', 2],
    ['{"n":1}\n\n{"n":3}\n', 2],
    ['{"n":1}\n{"n":2}\n{"n":3\n', 3],
    ["[]\n", 1],
    ["\0\0\0\n", 1],
  ])("is refused by line: %j", async (content, line) => {
    await writeFile(fileOf("a"), content);
    const reading = recordsOf(storeIn(), "a");
    await expect(reading).rejects.toThrow(SessionStoreError);
    await expect(reading).rejects.toThrow(`Line ${line} of ${fileOf("a")} is not a record`);
    await expect(reading).rejects.toThrow("put back a copy of the file, or remove that line");
  });
});

async function handlePrototype(): Promise<FileHandle> {
  const probe = await open(directory, "r");
  await probe.close();
  return Object.getPrototypeOf(probe);
}
