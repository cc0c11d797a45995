import { describe, expect, test } from "vitest";
import type { UnknownRecord } from "../../base/reading.ts";
import { Session } from "../../session/session.ts";
import { claudeHistorySlice, Transcript } from "./transcript.ts";

const entry = (uuid: string, type = "user") => ({ type, uuid, sessionId: "s1" });
const key = { projectKey: "-tmp", sessionId: "s1" };

type Append = (key: UnknownRecord, entries: readonly object[]) => Promise<void>;
const append = (transcript: Transcript, entries: readonly object[], more = {}) =>
  (transcript.store["append"] as Append)({ ...key, ...more }, entries);

describe("a transcript", () => {
  test("tells what came since it was last asked, after what it goes on from", async () => {
    const transcript = new Transcript([entry("a"), entry("b")]);
    expect(transcript.step()).toEqual({ kept: 2, added: [] });
    await append(transcript, [entry("c"), entry("d", "assistant")]);
    expect(transcript.step()).toEqual({ kept: 2, added: [entry("c"), entry("d", "assistant")] });
    await append(transcript, [entry("e")]);
    expect(transcript.step()).toEqual({ kept: 4, added: [entry("e")] });
    expect(transcript.step()).toEqual({ kept: 5, added: [] });
  });

  test("gives the SDK what it goes on from", async () => {
    const earlier = [entry("a")];
    const transcript = new Transcript(earlier);
    await append(transcript, [entry("b")]);
    const load = transcript.store["load"] as () => Promise<unknown>;
    expect(await load()).toEqual(earlier);
  });

  test("leaves out what the SDK counts anew in every run, or queues for itself", async () => {
    const transcript = new Transcript([]);
    const own = ["cost-state", "queue-operation", "last-prompt"].map((type) => entry("x", type));
    const odd = Object.create({ type: "cost-state" });
    await append(transcript, [...own, entry("a"), { summary: "no type" }, odd]);
    expect(transcript.step().added).toEqual([entry("a"), { summary: "no type" }, odd]);
  });

  test("leaves out what another agent says", async () => {
    const transcript = new Transcript([]);
    await append(transcript, [entry("a")], { subpath: "agents/1" });
    expect(transcript.step().added).toEqual([]);
  });
});

describe("the id of the conversation that is gone on from", () => {
  test("is the first that an entry has", () => {
    const odd = new Map([["sessionId", "s0"]]);
    const earlier = [{ type: "summary" }, odd, entry("a"), { sessionId: "s2" }];
    expect(new Transcript(earlier).sessionId).toBe("s1");
  });

  test.each([[[]], [[{ type: "summary" }, { sessionId: 5 }]]])("is none in %j", (earlier) => {
    expect(new Transcript(earlier).sessionId).toBeNull();
  });
});

test("the SDK is told to keep its transcript here, and which conversation to resume", () => {
  const options = { persistSession: true, sessionStoreFlush: "eager" };
  const sessionStore = { append: expect.any(Function), load: expect.any(Function) };
  expect(new Transcript([]).options).toEqual({ ...options, sessionStore });
  const resumed = { ...options, sessionStore, resume: "s1" };
  expect(new Transcript([entry("a")]).options).toEqual(resumed);
});

test("the session keeps the entries of turns on this adapter", () => {
  const session = new Session({ id: "s" }).register(claudeHistorySlice);
  expect(claudeHistorySlice.id).toBe("claude.history");
  expect(session.get(claudeHistorySlice)).toEqual([]);
});
