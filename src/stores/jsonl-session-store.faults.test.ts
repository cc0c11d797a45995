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
import { defineSlice } from "../session/define-slice.ts";
import { logSlice } from "../session/log-slice.ts";
import { Session } from "../session/session.ts";
import { SessionStoreError } from "../session/session-store.ts";
import type { SessionTruncated } from "./hold-session-file.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";

interface BrickFired {
  readonly type: "BrickFired";
  readonly kg: number;
}

declare module "../session/event-map.ts" {
  interface EventMap {
    BrickFired: BrickFired;
  }
}

const createBrickFired = (kg: number): BrickFired => ({ type: "BrickFired", kg });
const kiln = defineSlice<readonly number[]>("kiln", {
  initial: [],
  on: { BrickFired: (bricks, { kg }) => [...bricks, kg] },
});
const firings = logSlice("firings", "BrickFired");
const slices = [kiln, firings];

let directory: string;
let truncations: SessionTruncated[];
let opened: JsonlSessionStore[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "wink-store-"));
  truncations = [];
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  await rm(directory, { recursive: true });
  vi.restoreAllMocks();
});

function openStore(place = directory): JsonlSessionStore {
  const store = new JsonlSessionStore(place, { onRepair: (cut) => void truncations.push(cut) });
  opened.push(store);
  return store;
}

const getFile = (id: string) => join(directory, `${id}.jsonl`);

async function readRecords(store: JsonlSessionStore, id: string): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

describe("JsonlSessionStore when a write fails", () => {
  /** Makes the next write fail half way, as on a full disk. */
  async function fillTheDisk(): Promise<void> {
    const handle = await getHandlePrototype();
    const { appendFile: write } = handle;
    vi.spyOn(handle, "appendFile").mockImplementationOnce(async function (this: FileHandle, all) {
      const bytes = Buffer.isBuffer(all) ? all : Buffer.of();
      await write.call(this, bytes.subarray(0, bytes.length / 2));
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    });
  }

  test("rejects with the cause and keeps the existing records", async () => {
    const store = openStore();
    await store.append("a", { n: 1 });
    await fillTheDisk();
    const failed = Promise.allSettled([store.append("a", { n: 2 }), store.append("a", { n: 3 })]);
    for (const outcome of await failed) {
      expect(outcome).toMatchObject({
        reason: {
          name: "SessionStoreError",
          sessionId: "a",
          message: expect.stringMatching(
            /^Session "a" could not be written \(.*a\.jsonl\): ENOSPC.*\. Free space on that disk, then reopen/,
          ),
          cause: { code: "ENOSPC" },
        },
      });
    }
    expect(await readFile(getFile("a"), "utf8")).toBe('{"n":1}\n');
    await store.append("a", { n: 4 });
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 4 }]);
    expect(truncations).toEqual([]);
  });

  test("reports and removes a partial write later if it cannot be removed at once", async () => {
    const store = openStore();
    await store.append("a", { n: 1 });
    await fillTheDisk();
    const truncating = vi
      .spyOn(await getHandlePrototype(), "truncate")
      .mockRejectedValueOnce(new Error("EIO"));
    await expect(store.append("a", { n: 2 })).rejects.toThrow("ENOSPC");
    truncating.mockRestore();
    expect(await readFile(getFile("a"), "utf8")).toBe('{"n":1}\n{"n"');
    await store.append("a", { n: 3 });
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 3 }]);
    expect(truncations).toEqual([{ sessionId: "a", path: getFile("a"), records: 1, bytes: 4 }]);
  });

  test("stops storing the session, which can be reopened from the stored records", async () => {
    const store = openStore();
    const session = new Session({ id: "s", store }).register(kiln).register(firings);
    session.dispatch(createBrickFired(1));
    await session.flush();
    await fillTheDisk();
    session.dispatch(createBrickFired(2));
    await expect(session.flush()).rejects.toThrow("ENOSPC");
    session.dispatch(createBrickFired(3));
    await expect(session.flush()).rejects.toThrow("ENOSPC");
    const again = await Session.open(store, "s", slices);
    again.dispatch(createBrickFired(4));
    await again.flush();
    expect((await Session.open(store, "s", slices)).get(kiln)).toEqual([1, 4]);
  });

  test("rejects everything sent before the failure was known, so that no gap remains", async () => {
    const store = openStore();
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
    expect(await readRecords(store, "a")).toEqual([{ n: 0 }]);
  });

  test("fails clearly if the directory is a file", async () => {
    const place = join(directory, "file");
    await writeFile(place, "");
    const store = openStore(place);
    const wrong: readonly (() => Promise<unknown>)[] = [
      () => store.append("a", {}),
      () => readRecords(store, "a"),
      () => store.list(),
      () => store.delete("a"),
    ];
    for (const ask of wrong) {
      await expect(ask()).rejects.toThrow(SessionStoreError);
      await expect(ask()).rejects.toMatchObject({ cause: { code: expect.stringMatching(/^E/) } });
    }
    expect(await readFile(place, "utf8")).toBe("");
  });

  test.skipIf(process.platform !== "linux")(
    "fails at once if the system creates no folders there",
    async () => {
      const store = openStore("/proc/wink-none/sessions");
      await expect(store.append("a", {})).rejects.toThrow(SessionStoreError);
    },
  );

  test("fails clearly if the file is a folder", async () => {
    const store = openStore();
    await mkdir(getFile("a"));
    for (const ask of [
      () => store.append("a", {}),
      () => readRecords(store, "a"),
      () => store.delete("a"),
    ]) {
      await expect(ask()).rejects.toThrow(SessionStoreError);
      await expect(ask()).rejects.toThrow("it is a folder, not a file. Remove it, and use");
    }
    expect(await store.list()).toEqual([]);
    expect(await readdir(directory)).toEqual(["a.claim", "a.jsonl"]); // no lock remains
  });

  test.each([
    ["EROFS", "That disk is read-only: use a directory on another one."],
    ["EDQUOT", "Free space on that disk, then reopen the session with Session.open."],
    ["EIO", "Free disk space or fix the permissions, then reopen the session with Session.open."],
  ])("names the file and what to do about %s", async (code, remedy) => {
    const store = openStore();
    const handle = await getHandlePrototype();
    const failure = Object.assign(new Error(`${code}: that`), { code });
    vi.spyOn(handle, "appendFile").mockRejectedValueOnce(failure);
    const message = `Session "a" could not be written (${getFile("a")}): ${code}: that. ${remedy}`;
    await expect(store.append("a", {})).rejects.toThrow(message);
  });

  test("rejects a record that is larger than 128 MiB, and stays usable", async () => {
    const store = openStore();
    const text = "x".repeat(128 * 1024 ** 2);
    const message = 'A record of session "a" is larger than 134,217,728 bytes.';
    await expect(store.append("a", { text })).rejects.toThrow(message);
    await store.append("a", { n: 1 });
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }]);
  });
});

describe("JsonlSessionStore with an incomplete last record", () => {
  const half = '{"n":1}\n{"n":2}\n{"n"';

  test("reads the complete records and reports the truncation once", async () => {
    await writeFile(getFile("a"), half);
    const store = openStore();
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
    expect(truncations).toEqual([{ sessionId: "a", path: getFile("a"), records: 2, bytes: 4 }]);
    expect(truncations[0]).toSatisfy(Object.isFrozen);
    expect(await readFile(getFile("a"), "utf8")).toBe(half); // not removed yet
    await store.append("a", { n: 3 });
    expect(await readFile(getFile("a"), "utf8")).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
    expect(truncations).toHaveLength(1);
  });

  test("reports the truncation on the first write if the session was not read", async () => {
    await writeFile(getFile("a"), half);
    await openStore().append("a", { n: 3 });
    expect(truncations).toMatchObject([{ records: 2, bytes: 4 }]);
  });

  test("reports a second truncation", async () => {
    const store = openStore();
    await writeFile(getFile("a"), half);
    await store.append("a", { n: 3 });
    await store.close();
    await truncate(getFile("a"), 20);
    expect(await readRecords(store, "a")).toHaveLength(2);
    expect(truncations).toHaveLength(2);
  });

  test("emits a process warning without onRepair", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await writeFile(getFile("a"), half);
    await readRecords(new JsonlSessionStore(directory), "a");
    expect(warned.mock.calls).toEqual([
      [
        `Session "a" continues from its 2 complete records: ${getFile("a")} ends within a record, ` +
          "and its last 4 bytes are ignored",
        "WinkWarning",
      ],
    ]);
  });

  test("repairs the file even if onRepair throws", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await writeFile(getFile("a"), half);
    const onRepair = () => {
      throw new Error("boom");
    };
    await using store = new JsonlSessionStore(directory, { onRepair });
    await store.append("a", { n: 3 });
    expect(await readRecords(store, "a")).toHaveLength(3);
    expect(warned.mock.calls).toEqual([
      ["The session store's onRepair failed: boom", "WinkWarning"],
    ]);
  });

  test("does not report a record that is being written", async () => {
    const writer = openStore();
    await writer.append("a", { n: 1 });
    await writer.claim("a");
    await appendFile(getFile("a"), '{"n"'); // looks like a write in progress
    expect(await readRecords(openStore(), "a")).toEqual([{ n: 1 }]);
    expect(await readRecords(writer, "a")).toEqual([{ n: 1 }]);
    expect(truncations).toEqual([]);
  });

  test("treats a file without a complete record as no session, which can then be created", async () => {
    await writeFile(getFile("s"), '{"n":0,"kind":"sess');
    const store = openStore();
    await expect(Session.open(store, "s", slices)).rejects.toThrow('There is no session "s"');
    const session = new Session({ id: "s", store }).register(kiln).register(firings);
    session.dispatch(createBrickFired(1));
    await session.flush();
    expect((await Session.open(store, "s", slices)).get(kiln)).toEqual([1]);
    expect(truncations).toMatchObject([{ records: 0, bytes: 19 }]);
  });
});

describe("JsonlSessionStore with a damaged file", () => {
  test.each([
    ['{"n":1}\ngarbage\n{"n":3}\n', 2],
    ['{"n":1}\n\n{"n":3}\n', 2],
    ['{"n":1}\n{"n":2}\n{"n":3\n', 3],
    ["[]\n", 1],
    ["\0\0\0\n", 1],
  ])("rejects it with the line number: %j", async (content, line) => {
    await writeFile(getFile("a"), content);
    const reading = readRecords(openStore(), "a");
    await expect(reading).rejects.toThrow(SessionStoreError);
    await expect(reading).rejects.toThrow(`Line ${line} of ${getFile("a")} is not a record`);
    await expect(reading).rejects.toThrow("Restore a copy of the file, or remove that line");
  });
});

async function getHandlePrototype(): Promise<FileHandle> {
  const probe = await open(directory, "r");
  await probe.close();
  return Object.getPrototypeOf(probe);
}

test("list() includes a file that cannot be read, read() says why, and delete() names a file in its way", async () => {
  const store = openStore();
  await store.append("s", { n: 0 });
  await mkdir(join(directory, "s.checkpoint"));
  const path = join(directory, "s.checkpoint");
  await expect(store.delete("s")).rejects.toThrow(`unlink '${path}'`);
  await writeFile(join(directory, "long.jsonl"), "");
  await truncate(join(directory, "long.jsonl"), 1024 ** 4);
  expect(await store.list()).toEqual(["long", "s"]);
  await expect(readRecords(store, "long")).rejects.toThrow(
    "line 1 is longer than 134,217,728 bytes",
  );
});

test("writeCheckpoint() refuses a writer that does not know the last record", async () => {
  const store = openStore();
  const { fence, release } = await store.claim("s");
  await store.append("s", { n: 0 }, { writer: {}, position: 0, fence });
  const write = store.writeCheckpoint("s", {}, { writer: {}, position: 5, fence });
  await expect(write).rejects.toThrow("has changed in its store since it was read");
  expect(await store.readCheckpoint("s")).toBeNull();
  await release();
});

test("list() leaves out sessions that are deleted meanwhile", async () => {
  const names = Array.from({ length: 200 }, (_, n) => `s${n}.jsonl`);
  await Promise.all(names.map((name) => writeFile(join(directory, name), '{"n":0}\n')));
  const order = await readdir(directory);
  const listing = openStore().list();
  await readdir(directory); // the store has the names by now
  const gone = order.slice(100);
  await Promise.all(gone.map((name) => rm(join(directory, name))));
  const ids = await listing;
  expect(ids.length).toBeGreaterThanOrEqual(100);
  expect(ids.length).toBeLessThanOrEqual(200);
});
