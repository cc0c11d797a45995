import { expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { Session } from "../../session/session.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { traceSlice } from "./trace-slice.ts";

const prompt = definePrompt({ name: "greet", instructions: "Greet." });
const stamp = { promptName: "greet", adapter: "scripted", createdAt: "2026-01-01T00:00:00.000Z" };

function listTypes(store: MemorySessionStore, id: string): readonly string[] {
  return (store.lines.get(id) ?? []).flatMap((line) => {
    const { event, events = [] } = JSON.parse(line);
    return [event?.type, ...events.map((each: { event: { type: string } }) => each.event.type)];
  });
}

test("a stored session has its prompt, and has it again only if it changes", async () => {
  const store = new MemorySessionStore();
  const session = new Session({ store, id: "s" });
  const model = scriptedClient({ text: "Hi." }, { text: "Hi." }, { text: "Hi." });
  await model.evaluate(prompt, { session, input: "Hello." });
  await model.evaluate(prompt, { session, input: "Hello again." });
  expect(listTypes(store, "s").filter((type) => type === "PromptRendered")).toHaveLength(1);
  const other = definePrompt({ name: "greet", instructions: "Greet warmly." });
  await model.evaluate(other, { session });
  expect(listTypes(store, "s").filter((type) => type === "PromptRendered")).toHaveLength(2);
  await session.close();
});

test("a stored session has replaced containers, although no state depends on them", async () => {
  const store = new MemorySessionStore();
  const session = new Session({ store, id: "s" });
  await scriptedClient({ text: "Hi." }).evaluate(prompt, { session });
  session.dispatch({
    ...{ type: "ContainerReplaced", sessionId: "s", ...stamp, containerId: "a" },
    ...{ replacedBy: "b", reason: "expired", restored: 1, lost: [] },
  });
  await session.close();
  expect(listTypes(store, "s").at(-1)).toBe("ContainerReplaced");
  const opened = await Session.open(store, "s");
  expect(opened.get(traceSlice)).toEqual({
    prompts: { "agent:greet": expect.stringMatching(/^[0-9a-f]{64}$/) },
    events: 1,
  });
  await opened.close();
});

test("a session without a store has no trace", async () => {
  const session = new Session();
  await scriptedClient({ text: "Hi." }).evaluate(prompt, { session });
  expect(session.serialize()).not.toContain("wink.trace");
});

test("a stored session has the notices of sections, whose events the adapter does not declare", async () => {
  const store = new MemorySessionStore();
  const session = new Session({ store, id: "s" });
  await scriptedClient({ text: "Hi." }).evaluate(prompt, { session });
  session.dispatch({ type: "McpRefreshFailed", sessionId: "s" } as never);
  await session.close();
  expect(listTypes(store, "s").at(-1)).toBe("McpRefreshFailed");
});
