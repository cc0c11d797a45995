import { expect, test } from "vitest";
import { definePrompt } from "../prompt/define-prompt.ts";
import { InProcessEventBus } from "../session/event-bus.ts";
import type { BusEvent } from "../session/event-map.ts";
import { Session } from "../session/session.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { FollowedSession } from "./followed-session.ts";
import { LiveSession } from "./live-session.ts";
import { addBytes } from "./sources/store-source.ts";

const prompt = definePrompt({ name: "poet", instructions: "Write." });

test("shows a session of this process while its text arrives", async () => {
  const session = new Session({ id: "live" });
  using live = new LiveSession(session);
  const followed = new FollowedSession("live", live);
  const seen: string[] = [];
  using _following = followed.follow({
    onEntries: (entries) => seen.push(...entries.map(({ title, status }) => `${title} ${status}`)),
    onSummary: () => {},
    onLoaded: () => seen.push("loaded"),
    onText: (turn, delta) => seen.push(delta === null ? "end of text" : `${turn}: ${delta}`),
  });
  const stream = scriptedClient({ text: "A haiku.", deltas: ["A ", "haiku."] }).stream(prompt, {
    session,
    input: "Go.",
  });
  for await (const part of stream) live.addPart(part);
  const summary = await followed.load();
  expect(summary).toMatchObject({
    state: "done",
    turns: 1,
    input: "Go.",
    answer: { text: "A haiku." },
  });
  expect(seen).toEqual(
    expect.arrayContaining([
      "loaded",
      "1: A ",
      "1: haiku.",
      "end of text",
      "Turn 1 open",
      "Turn 1 ok",
      "agent:poet ok",
    ]),
  );
  expect(seen.indexOf("1: A ")).toBeLessThan(seen.indexOf("1: haiku."));
});

test("ignores the events of other sessions on a shared bus, and text that is void", async () => {
  const bus = new InProcessEventBus();
  const session = new Session({ id: "one", bus });
  using live = new LiveSession(session);
  await scriptedClient({ text: "Hi." }).evaluate(prompt, {
    session: new Session({ id: "two", bus }),
  });
  const followed = new FollowedSession("one", live);
  expect(await followed.load()).toMatchObject({ state: "empty", records: 1 });
  const texts: unknown[] = [];
  using _text = live.watchText((turn, delta) => texts.push([turn, delta]));
  live.addPart({ type: "text", turn: 1, delta: "void" });
  live.addPart({ type: "restart", turn: 1 });
  live.addPart({ type: "reasoning", turn: 1, delta: "hm" });
  expect(texts).toEqual([
    [1, "void"],
    [1, null],
  ]);
});

test("starts with the stored records of a session that continues", async () => {
  const session = new Session({ id: "one" });
  const stored = [{ kind: "session", id: "one", createdAt: "2026-01-01T00:00:00.000Z", tags: {} }];
  using live = new LiveSession(session, [...stored, { kind: "event", event: { type: "Mine" } }]);
  await scriptedClient({ text: "Hi." }).evaluate(prompt, { session });
  const followed = new FollowedSession("one", live);
  expect(await followed.load()).toMatchObject({ createdAt: "2026-01-01T00:00:00.000Z", turns: 1 });
  const types = [];
  for await (const record of live.read(1)) types.push(record);
  expect(types[0]).toEqual({ kind: "event", event: { type: "Mine" } });
});

test("shows the text of the running turn to readers that come later", () => {
  using live = new LiveSession(new Session({ id: "one" }));
  const followed = new FollowedSession("one", live);
  const follow = () => {
    const seen: unknown[] = [];
    const onText = (turn: number, delta: string | null) => seen.push([turn, delta]);
    const ignore = () => {};
    const following = followed.follow({
      onText,
      onEntries: ignore,
      onSummary: ignore,
      onLoaded: ignore,
    });
    return { seen, following };
  };
  live.addPart({ type: "text", turn: 1, delta: "Roses " });
  const first = follow();
  live.addPart({ type: "text", turn: 1, delta: "are" });
  const second = follow();
  expect([first.seen, second.seen]).toEqual([
    [
      [1, "Roses "],
      [1, "are"],
    ],
    [[1, "Roses are"]],
  ]);
  for (const { following } of [first, second]) following[Symbol.dispose]();
  live.addPart({ type: "text", turn: 1, delta: "x".repeat(5_000) });
  const third = follow();
  expect(third.seen).toEqual([[1, "x".repeat(1_000)]]);
  live.addPart({ type: "restart", turn: 1 });
  expect(follow().seen).toEqual([]);
});

test("shows the application's own events, and ignores progress", async () => {
  const session = new Session({ id: "one" });
  using live = new LiveSession(session);
  const changes: string[] = [];
  using _watching = live.watch(() => changes.push("changed"));
  session.bus.publish({ type: "TurnProgressed", sessionId: "one" } as BusEvent);
  session.bus.publish({ type: "BellRang" } as never);
  expect(changes).toEqual(["changed"]);
  const records: unknown[] = [];
  for await (const record of live.read(1)) records.push(record);
  expect(records).toEqual([{ kind: "event", event: { type: "BellRang" } }]);
});

test("keeps sending its text after the contents of files are added", async () => {
  const session = new Session({ id: "one" });
  using live = new LiveSession(session);
  const feed = addBytes(live, async () => new Uint8Array([1]));
  const texts: unknown[] = [];
  using _text = feed.watchText?.((turn, delta) => texts.push([turn, delta]));
  live.addPart({ type: "text", turn: 1, delta: "Hi" });
  expect(texts).toEqual([[1, "Hi"]]);
  expect(await feed.readBytes?.("", 1)).toEqual(new Uint8Array([1]));
});
