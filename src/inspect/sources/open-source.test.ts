import { createHash } from "node:crypto";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toolLog } from "../../adapter/log-slices.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { Session } from "../../session/session.ts";
import type { SessionStore } from "../../session/session-store.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { SqliteSessionStore } from "../../stores/sqlite/sqlite-session-store.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { describeDiff } from "../describe-diff.ts";
import { FollowedSession } from "../followed-session.ts";
import type { InspectorSource } from "../inspector-source.ts";
import { openSource } from "./open-source.ts";

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wink-source-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const bake = new Tool({
  name: "bake",
  description: "Bakes.",
  params: null,
  handler: () => ToolResult.ok("bread"),
});
const prompt = definePrompt({ name: "baker", instructions: "Bake.", tools: [bake] });

/** Runs an agent with one call. */
async function run(session: Session): Promise<Session> {
  const model = scriptedClient({ toolCalls: [{ name: "bake" }] }, { text: "Done." });
  await model.evaluate(prompt, { session, input: "Bread!" });
  return session;
}

async function runIn(
  store: SessionStore & AsyncDisposable,
  ...ids: readonly string[]
): Promise<void> {
  for (const id of ids) await (await run(new Session({ store, id }))).close();
  await store[Symbol.asyncDispose]();
}

async function open(options: Parameters<typeof openSource>[0]): Promise<InspectorSource> {
  const source = await openSource(options);
  onTestFinished(() => source[Symbol.asyncDispose]());
  return source;
}

async function summarize(source: InspectorSource, id: string) {
  const feed = await source.open(id);
  return feed && (await new FollowedSession(id, feed).load());
}

const whole = {
  state: "done",
  turns: 2,
  calls: 1,
  input: "Bread!",
  answer: { text: "Done." },
  prompt: { text: expect.stringContaining("Bake.") },
};

test("opens a folder of sessions, newest first", async () => {
  const folder = await createFolder();
  await runIn(new JsonlSessionStore(folder), "one", "Two:2");
  const source = await open({ target: folder });
  expect((await source.list()).sessions.map(({ id }) => id).sort()).toEqual(["Two:2", "one"]);
  expect(source.onlySession).toBeNull();
  expect(await summarize(source, "Two:2")).toMatchObject(whole);
  expect(await source.open("none")).toBeNull();
});

test("opens a session of a folder by its id", async () => {
  const folder = await createFolder();
  await runIn(new JsonlSessionStore(folder), "one");
  const source = await open({ target: "one", store: folder });
  expect(source.onlySession).toBe("one");
  await expect(openSource({ target: "two", store: folder })).rejects.toThrow(
    /^SESSION must be a session in .*, got "two"\. Omit it to see all sessions of the store\.$/,
  );
});

test("opens a session file, also under another name", async () => {
  const folder = await createFolder();
  await runIn(new JsonlSessionStore(folder), "one");
  const { readFile } = await import("node:fs/promises");
  const copy = join(folder, "copy of one.txt");
  await writeFile(copy, await readFile(join(folder, "one.jsonl")));
  expect((await open({ target: join(folder, "one.jsonl") })).onlySession).toBe("one");
  const source = await open({ target: copy });
  expect(await summarize(source, "copy of one.txt")).toMatchObject(whole);
  expect(await source.open("one")).toBeNull();
  expect((await source.list()).sessions).toHaveLength(1);
});

test("opens a SQLite database", async () => {
  const path = join(await createFolder(), "sessions.db");
  await runIn(new SqliteSessionStore(path), "one");
  const source = await open({ target: path });
  expect(await summarize(source, "one")).toMatchObject(whole);
  expect((await source.list()).sessions).toMatchObject([{ id: "one", run: null }]);
});

test("opens a serialized session, which has logs and states instead of events", async () => {
  const path = join(await createFolder(), "session.json");
  const session = await run(new Session({ id: "one" }).register(toolLog));
  await writeFile(path, session.serialize());
  const source = await open({ target: path });
  const feed = await source.open("one");
  const followed = feed && new FollowedSession("one", feed);
  expect(await followed?.load()).toMatchObject({ calls: 1, tools: [{ name: "bake", failed: 0 }] });
  const detail = await followed?.getDetail("n2");
  expect(detail?.events).toMatchObject([
    { kind: "loaded", states: { "wink.tools": [{ name: "bake" }] } },
  ]);
});

test("opens a serialized session of a stored run with its last turn", async () => {
  const folder = await createFolder();
  const store = new JsonlSessionStore(folder);
  const session = await run(new Session({ store, id: "one" }));
  const path = join(folder, "session.json");
  await writeFile(path, session.serialize());
  await session.close();
  await store.close();
  expect(await summarize(await open({ target: path }), "one")).toMatchObject({ turns: 1 });
});

test("shows the lines of files that differ, from the workspace's folder", async () => {
  const folder = await createFolder();
  const kept = join(folder, "kept");
  await mkdir(join(kept, "blobs"), { recursive: true });
  const keep = async (text: string) => {
    const sha256 = createHash("sha256").update(text).digest("hex");
    await writeFile(join(kept, "blobs", sha256), text);
    return { sha256, bytes: Buffer.byteLength(text), mode: 0o644 };
  };
  const missing = { sha256: "0".repeat(64), bytes: 1, mode: 0o644 };
  const hostile = { sha256: "../../../etc/passwd", bytes: 1, mode: 0o644 };
  const manifests = [
    {
      section: "w",
      isComplete: true,
      deleted: [],
      files: {
        a: await keep("one\ntwo\n"),
        b: missing,
        c: await keep("x\0"),
        d: hostile,
        big: { ...missing, bytes: 1e9 },
      },
    },
    {
      section: "w",
      isComplete: false,
      deleted: ["b", "c", "d", "big"],
      files: { a: await keep("one\n2\n"), e: await keep("new\n") },
    },
  ];
  const file = join(folder, "one.jsonl");
  await writeFile(file, `${JSON.stringify({ kind: "session", id: "one" })}\n`);
  for (const manifest of manifests)
    await appendFile(
      file,
      `${JSON.stringify({ kind: "event", event: { type: "WorkspaceKept", manifest } })}\n`,
    );
  const feed = await (await open({ target: file, files: kept })).open("one");
  const session = new FollowedSession("one", feed ?? { async *read() {} });
  await session.load();
  const diff = async (path: string) => {
    const change = session.findFile("n2", path);
    return change && (await describeDiff(session, change));
  };
  expect(await diff("a")).toEqual({ diff: "@@ -1,2 +1,2 @@\n one\n-two\n+2\n" });
  expect(await diff("e")).toEqual({ diff: "@@ -0,0 +1 @@\n+new\n" });
  expect(await diff("b")).toEqual({ problem: "The contents of this version are no longer kept." });
  expect(await diff("c")).toEqual({ problem: "The file is not text." });
  expect(await diff("d")).toEqual({ problem: "The contents of this version are no longer kept." });
  expect(await diff("big")).toEqual({ problem: "The file is too large to be compared." });
  expect(await diff("none")).toBeUndefined();
  expect(session.findFile("", "e")).toMatchObject({ change: "added" });

  const blind = new FollowedSession("one", { read: (from) => feed?.read(from) ?? emptyRead() });
  await blind.load();
  const change = blind.findFile("n2", "a");
  expect(change && (await describeDiff(blind, change))).toEqual({
    problem: expect.stringContaining("Start wink inspect with --files"),
  });
});

async function* emptyRead(): AsyncGenerator<unknown> {}

test.each([
  [
    {},
    /^SESSION must be a session, a file, a folder or a URL, got undefined\. Pass a session file/,
  ],
  [
    { target: "/nowhere" },
    /^SESSION must be an existing file or folder \(.*ENOENT.*\), got "\/nowhere"\./,
  ],
  [{ target: "a", store: "/nowhere" }, /^--store must be an existing file or folder/],
  [
    { target: "package.json" },
    /^SESSION must be a session file, a serialized session or a SQLite database/,
  ],
  [{ target: "/dev/null" }, /^\/dev\/null is not a file\. Pass the path of a session file\.$/],
  [
    { target: "src", files: "src" },
    /^--files must be the persistDir of a workspace: a folder that contains blobs, got "src"\./,
  ],
  [{ target: "src", schema: "a b" }, /^--schema must be 1-63 letters, digits and _/],
  [{ target: "postgres://user:s3cret@127.0.0.1:1/none" }, /^(?!.*s3cret).*127\.0\.0\.1:1\/none/],
])("refuses %j with a remedy", async (options, message) => {
  await expect(openSource(options)).rejects.toThrow(message);
});
