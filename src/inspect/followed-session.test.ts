import { EventEmitter } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { Entry } from "./entry.ts";
import { EventChannel } from "./event-channel.ts";
import { FollowedSession } from "./followed-session.ts";
import type { InspectorSource, SessionFeed } from "./inspector-source.ts";
import { SessionCache } from "./session-cache.ts";
import { openSource } from "./sources/open-source.ts";
import { toSavedRecords } from "./sources/saved-records.ts";
import { SingleSource } from "./sources/single-source.ts";
import { compareSessions, StoreSource } from "./sources/store-source.ts";
import { startInspector } from "./start-inspector.ts";

function createFeed(records: readonly unknown[]): SessionFeed {
  return {
    async *read(from) {
      yield* records.slice(from);
    },
  };
}

const ignored = { onEntries: () => {}, onLoaded: () => {}, onText: () => {} };

test("reads a source without notifications once a second, and reads again what arrives during a read", async () => {
  const records: object[] = [{ kind: "session" }];
  const followed = new FollowedSession("s", createFeed(records));
  const counts: number[] = [];
  using following = followed.follow({
    ...ignored,
    onSummary: ({ records: count }) => counts.push(count),
  });
  await Promise.all([followed.load(), followed.load()]);
  records.push({ kind: "event", event: { type: "Mine" } });
  await expect.poll(() => counts.at(-1)).toBe(2);
  using second = followed.follow({
    ...ignored,
    onSummary: ({ records: count }) => counts.push(count),
  });
  expect(counts.at(-1)).toBe(2);
  expect([following, second]).toHaveLength(2);
});

test("names the problem of a source that cannot be read", async () => {
  const followed = new FollowedSession("s", {
    async *read() {
      yield { kind: "session" };
      throw new Error("The disk failed.");
    },
  });
  expect(await followed.load()).toMatchObject({ problem: "The disk failed.", records: 1 });
});

test("searches records of any shape", async () => {
  const deep = JSON.parse(`${"[".repeat(9000)}${"]".repeat(9000)}`);
  const records = [
    { kind: "session" },
    null,
    { kind: "event", event: deep },
    { kind: "events", events: 7 },
  ];
  const found = {
    kind: "events",
    events: [null, { event: { type: "Mine", text: 'a "quoted" line\n' } }],
  };
  const followed = new FollowedSession("s", createFeed([...records, found]));
  expect(await followed.search('"QUOTED" line\n')).toEqual(["n4.1"]);
  expect((await followed.getDetail("n4.1"))?.events).toMatchObject([{ type: "Mine" }]);
});

test("returns no events for an entry whose records were deleted", async () => {
  const records: object[] = [{ kind: "session" }, { kind: "event", event: { type: "Mine" } }];
  const followed = new FollowedSession("s", createFeed(records));
  await followed.load();
  records.length = 0;
  expect(await followed.getDetail("n1")).toMatchObject({ events: [null] });
  expect(await followed.readBytes("0".repeat(64), 1)).toBeNull();
});

class SlowResponse extends EventEmitter {
  readonly sent: string[] = [];
  isBusy = false;

  write(text: string): boolean {
    this.sent.push(text);
    return !this.isBusy;
  }
}

test("a channel sends a slow reader the last state of each entry, and the end of a text without the text", async () => {
  const response = new SlowResponse();
  using channel = new EventChannel(response as unknown as ServerResponse);
  const create = (text: string): Entry => ({
    ...{ key: "1", parent: null, kind: "event", type: "Mine", title: "Mine", text },
    ...{ status: "none", at: null, ms: null },
  });
  response.isBusy = true;
  channel.onEntries([create("first")]);
  await expect.poll(() => response.sent.length).toBe(1);
  channel.onEntries([create("second")]);
  channel.onEntries([create("third")]);
  channel.onText(1, "A ");
  channel.onText(1, null);
  response.isBusy = false;
  response.emit("drain");
  await expect.poll(() => response.sent.length).toBe(3);
  const messages = response.sent.map((text) => JSON.parse(text.slice(6)));
  expect(messages).toMatchObject([
    { type: "entries", entries: [{ text: "first" }] },
    { type: "entries", entries: [{ text: "third" }] },
    { type: "text", turn: null, delta: "" },
  ]);
});

test("a cache opens a session once, forgets the oldest, and tries again after an error", async () => {
  const opened: string[] = [];
  let isBroken = false;
  const source: InspectorSource = {
    label: "",
    onlySession: null,
    list: async () => ({ label: "", sessions: [], omitted: 0 }),
    async open(id) {
      if (isBroken) throw new Error("broken");
      opened.push(id);
      return id === "none" ? null : createFeed([]);
    },
    async [Symbol.asyncDispose]() {},
  };
  const cache = new SessionCache(source);
  expect(await cache.get("none")).toBeNull();
  expect(await cache.get("a")).toBe(await cache.get("a"));
  for (let n = 0; n < 110; n++) await cache.get(`s${n}`);
  await cache.get("a");
  expect(opened.filter((id) => id === "a")).toHaveLength(2);
  isBroken = true;
  await expect(cache.get("b")).rejects.toThrow("broken");
  isBroken = false;
  expect(await cache.get("b")).not.toBeNull();
  await cache.close();
});

test("the server answers 500 with the message of an error", async () => {
  const source = new SingleSource({
    label: "",
    id: "s",
    feed: createFeed([]),
    readBytes: undefined,
  });
  const failing = Object.assign(source, {
    list: () => Promise.reject(new Error("The store failed.")),
  });
  await using inspector = await startInspector(failing);
  const response = await fetch(`${inspector.url}sessions`);
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 500,
    body: { error: "The store failed." },
  });
});

test("lists damaged sessions, sessions without a date, and at most 2,000", async () => {
  const store = new MemorySessionStore();
  for (let n = 0; n < 2_005; n++) store.lines.set(`s${n}`, ["{}"]);
  store.lines.set("s0", ["not JSON"]);
  const source = new StoreSource({ label: "memory", store, readBytes: async () => null });
  const { sessions, omitted } = await source.list();
  expect({ count: sessions.length, omitted }).toEqual({ count: 2_000, omitted: 5 });
  expect(await source.open("s0")).not.toBeNull();
  expect(await source.open("s1")).toHaveProperty("readBytes");
  await source[Symbol.asyncDispose]();
  const create = (id: string, createdAt: string | null) => ({ id, createdAt, run: null });
  const sorted = [
    create("b", null),
    create("a", null),
    create("old", "2025"),
    create("new", "2026"),
  ].sort(compareSessions);
  expect(sorted.map(({ id }) => id)).toEqual(["new", "old", "a", "b"]);
});

test("follows a file whose contents are kept elsewhere, until it is deleted", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wink-followed-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "one.jsonl");
  await writeFile(file, '{"kind":"session"}\n');
  await using source = new SingleSource({
    label: "",
    id: "one",
    feed: (await (await openSource({ target: file })).open("one")) ?? createFeed([]),
    readBytes: async () => null,
  });
  const followed = new FollowedSession("one", (await source.open("one")) ?? createFeed([]));
  const counts: number[] = [];
  using _following = followed.follow({
    ...ignored,
    onSummary: ({ records }) => counts.push(records),
  });
  await expect.poll(() => counts.at(-1)).toBe(1);
  await writeFile(file, '{"kind":"session"}\n{"kind":"slice"}\n');
  await expect.poll(() => counts.at(-1)).toBe(2);
  await rm(file);
  expect(await followed.load()).toMatchObject({
    records: 2,
    problem: expect.stringContaining("ENOENT"),
  });
});

test("a serialized session without logs is its states", () => {
  const saved = { version: 1, id: "s", createdAt: "2026-01-01", tags: {} } as const;
  expect(toSavedRecords({ ...saved, slices: { mine: 1 } })).toEqual([
    { kind: "session", id: "s", createdAt: "2026-01-01", tags: {} },
    { kind: "loaded", states: { mine: 1 } },
  ]);
  const slices = {
    "wink.tools": [
      { type: "ToolInvoked", createdAt: "2" },
      { type: "ToolInvoked", createdAt: "1" },
    ],
    "wink.standing": { evaluation: { last: null, answered: [] } },
    "wink.prompts": 7,
  };
  const times = toSavedRecords({ ...saved, slices }).map((record) =>
    "event" in record ? Object(record.event).createdAt : null,
  );
  expect(times).toEqual([null, "1", "2", null]);
});

test("shows the first entries of a long session before it is read to its end", async () => {
  const [isHalf, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const followed = new FollowedSession("s", {
    async *read(from) {
      for (let n = from; n < 501; n++) {
        if (n === 500) {
          isHalf.resolve();
          await goOn.promise;
        }
        yield { kind: "event", event: { type: "Mine" } };
      }
    },
  });
  const counts: number[] = [];
  using _following = followed.follow({
    ...ignored,
    onSummary: () => {},
    onEntries: (entries) => counts.push(entries.length),
  });
  await isHalf.promise;
  expect(counts).toEqual([0, 500]);
  goOn.resolve();
  await followed.load();
  expect(counts).toEqual([0, 500, 1]);
});

test("returns no event for an entry whose record has changed", async () => {
  const records: unknown[] = [{ kind: "event", event: { type: "Mine" } }, { kind: "event" }];
  const followed = new FollowedSession("s", createFeed(records));
  expect(await followed.search("mine")).toEqual(["n0"]);
  records[0] = null;
  expect(await followed.getDetail("n0")).toMatchObject({ events: [null] });
});

test("a channel sends many entries in several messages", async () => {
  const response = new SlowResponse();
  using channel = new EventChannel(response as unknown as ServerResponse);
  const entries = Array.from({ length: 1_001 }, (_, index): Entry => {
    return {
      ...{ key: `n${index}`, parent: null, kind: "event", type: "Mine", title: "Mine", text: "" },
      ...{ status: "none", at: null, ms: null },
    };
  });
  channel.onEntries(entries);
  await expect.poll(() => response.sent.length).toBe(2);
  const messages = response.sent.map((text) => JSON.parse(text.slice(6)));
  expect(messages.map(({ entries: sent }) => sent.length)).toEqual([1_000, 1]);
  expect(messages[1]).toMatchObject({ type: "entries", entries: [{ key: "n1000" }] });
});

test("a serialized session keeps the order of its events, and puts those without a time first", () => {
  const saved = { version: 1, id: "s", createdAt: "2026-01-01", tags: {} } as const;
  const tools = ["1", "3", undefined, "2"].map((createdAt) => ({ type: "ToolInvoked", createdAt }));
  const records = toSavedRecords({ ...saved, slices: { "wink.tools": tools } });
  const times = records.map((record) => ("event" in record ? Object(record.event).createdAt : "-"));
  expect(times).toEqual(["-", undefined, "1", "2", "3", "-"]);
});

test("a store lists a session whose first record is no object, without a date", async () => {
  const store = new MemorySessionStore();
  store.lines.set("odd", ["7"]);
  const source = new StoreSource({ label: "memory", store });
  expect((await source.list()).sessions).toEqual([{ id: "odd", createdAt: null, run: null }]);
});
