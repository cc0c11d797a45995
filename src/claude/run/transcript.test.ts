import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { UnknownRecord } from "../../base/json.ts";
import { Session } from "../../session/session.ts";
import { claudeHistorySlice, Transcript } from "./transcript.ts";

const createEntry = (uuid: string, type = "user") => ({ type, uuid, sessionId: "s1" });
const key = { projectKey: "-tmp", sessionId: "s1" };

type Append = (key: UnknownRecord, entries: readonly object[]) => Promise<void>;
const append = (transcript: Transcript, entries: readonly object[], more = {}) =>
  (transcript.store["append"] as Append)({ ...key, ...more }, entries);

describe("Transcript", () => {
  test("returns new entries in each step, after the earlier conversation", async () => {
    const transcript = new Transcript([createEntry("a"), createEntry("b")]);
    expect(transcript.takeStep()).toEqual({ kept: 2, added: [] });
    await append(transcript, [createEntry("c"), createEntry("d", "assistant")]);
    expect(transcript.takeStep()).toEqual({
      kept: 2,
      added: [createEntry("c"), createEntry("d", "assistant")],
    });
    await append(transcript, [createEntry("e")]);
    expect(transcript.takeStep()).toEqual({ kept: 4, added: [createEntry("e")] });
    expect(transcript.takeStep()).toEqual({ kept: 5, added: [] });
  });

  test("loads the earlier conversation for the SDK", async () => {
    const earlier = [createEntry("a")];
    const transcript = new Transcript(earlier);
    await append(transcript, [createEntry("b")]);
    const load = transcript.store["load"] as () => Promise<unknown>;
    expect(await load()).toEqual(earlier);
  });

  test("omits entries that the SDK writes in every run, and its internal queue", async () => {
    const transcript = new Transcript([]);
    const own = ["cost-state", "queue-operation", "last-prompt"].map((type) =>
      createEntry("x", type),
    );
    const odd = Object.create({ type: "cost-state" });
    await append(transcript, [...own, createEntry("a"), { summary: "no type" }, odd]);
    expect(transcript.takeStep().added).toEqual([createEntry("a"), { summary: "no type" }, odd]);
  });

  test("omits entries of subagents", async () => {
    const transcript = new Transcript([]);
    await append(transcript, [createEntry("a")], { subpath: "agents/1" });
    expect(transcript.takeStep().added).toEqual([]);
  });
});

describe("Transcript.sessionId", () => {
  test("is the first id in the earlier entries", () => {
    const odd = new Map([["sessionId", "s0"]]);
    const earlier = [{ type: "summary" }, odd, createEntry("a"), { sessionId: "s2" }];
    expect(new Transcript(earlier).sessionId).toBe("s1");
  });

  test.each([[[]], [[{ type: "summary" }, { sessionId: 5 }]]])("is null for %j", (earlier) => {
    expect(new Transcript(earlier).sessionId).toBeNull();
  });
});

test("Transcript.options set the session store and the conversation to resume", () => {
  const options = { persistSession: true, sessionStoreFlush: "eager" };
  const sessionStore = { append: expect.any(Function), load: expect.any(Function) };
  expect(new Transcript([]).options).toEqual({ ...options, sessionStore });
  const resumed = { ...options, sessionStore, resume: "s1" };
  expect(new Transcript([createEntry("a")]).options).toEqual(resumed);
});

test("claudeHistorySlice can be registered in a session and starts empty", () => {
  const session = new Session({ id: "s" }).register(claudeHistorySlice);
  expect(claudeHistorySlice.id).toBe("claude.history");
  expect(session.get(claudeHistorySlice)).toEqual([]);
});

describe("A transcript of a run that can be resumed", () => {
  const createUse = (id: string) => ({
    ...createEntry(`use-${id}`, "assistant"),
    message: { id: "msg_1", content: [{ type: "tool_use", id }] },
  });
  const result = new Map([["a", { content: "one", isError: false }]]);

  test("loads the results of interrupted calls, and reports them as new entries", async () => {
    const transcript = new Transcript([createUse("a"), createUse("b")], result);
    const load = transcript.store["load"] as () => Promise<readonly object[]>;
    const [, , answer, ...others] = await load();
    expect(answer).toMatchObject({ parentUuid: "use-a", message: { role: "user" } });
    expect(others).toEqual([]);
    await append(transcript, [createEntry("c")]);
    expect(transcript.takeStep()).toEqual({ kept: 2, added: [answer, createEntry("c")] });
  });

  test("adds the results of a batch to a step, and the next step replaces them", async () => {
    const transcript = new Transcript([]);
    await append(transcript, [createUse("a")]);
    transcript.setBatch(result);
    const step = transcript.takeStep();
    expect(step.added).toHaveLength(2);
    expect(step.added[1]).toMatchObject({ parentUuid: "use-a" });
    await append(transcript, [createEntry("real")]);
    expect(transcript.takeStep()).toEqual({ kept: 1, added: [createEntry("real")] });
  });

  test("waits until the SDK has written a message, but not for ever", async () => {
    const transcript = new Transcript([]);
    const waiting = transcript.waitFor(["msg_1", "a"]);
    await append(transcript, [createEntry("b")]);
    await append(transcript, [createUse("a")]);
    await waiting;
    expect(transcript.takeStep().added).toHaveLength(2);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const late = transcript.waitFor(["msg_2"]);
    await vi.advanceTimersByTimeAsync(2_000);
    await late;
  });
});
