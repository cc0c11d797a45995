import { expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { NestedOptions } from "../adapter/nested-adapter.ts";
import { onBarrier } from "../adapter/resume/barrier.ts";
import { maxThrottleWaitMs } from "../adapter/throttle.ts";
import { PromptEvaluationError, ThrottleError } from "../base/evaluation-errors.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { fakeClock } from "./fake-clock.ts";
import { recordingBus } from "./recording-bus.ts";
import { scriptedClient } from "./scripted-client.ts";

const tick = new Tool({
  name: "tick",
  description: "Ticks.",
  params: null,
  handler: () => ToolResult.ok(null, "tock"),
});
const task = new MarkdownSection({ key: "task", title: "Task", template: "Tick.", tools: [tick] });
const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "tick", sections: [task] }));
const calling = { toolCalls: [{ name: "tick" }] };

test("scriptedClient() plays one step per request across evaluations", async () => {
  const model = scriptedClient(calling, { text: "One." }, { text: "Two." });
  const session = new Session();
  expect((await model.evaluate(prompt, { session })).text).toBe("One.");
  expect((await model.evaluate(prompt, { session })).text).toBe("Two.");
  expect(model.asked.map(({ turn }) => turn)).toEqual([1, 2, 1]);
  expect(model.asked[1]?.answers.map(({ text }) => text)).toEqual(["tock"]);
});

test("scriptedClient() accepts a function of the request as a step", async () => {
  const model = scriptedClient(calling, ({ answers }) => ({ text: `It said ${answers[0]?.text}` }));
  const { text } = await model.evaluate(prompt, { session: new Session() });
  expect(text).toBe("It said tock");
});

test("scriptedClient() throws after the last step of the script", async () => {
  const work = scriptedClient(calling).evaluate(prompt, { session: new Session() });
  await expect(work).rejects.toThrow("The script has no step for request 2. Add one.");
  await expect(work).rejects.toBeInstanceOf(PromptEvaluationError);
});

test("scriptedClient() throws if a step returns no turn", async () => {
  const model = scriptedClient(() => "hello" as never);
  const work = model.evaluate(prompt, { session: new Session() });
  await expect(work).rejects.toThrow(
    "Step 1 of the script returned no turn. Return { text } or { toolCalls }.",
  );
});

test("scriptedClient() rejects a request with an error in the script", async () => {
  const boom = new Error("boom");
  const work = scriptedClient(boom).evaluate(prompt, { session: new Session() });
  await expect(work).rejects.toMatchObject({ phase: "request", cause: boom });
});

test("with() changes the name and loop options and keeps the script", async () => {
  const bus = recordingBus();
  const clock = fakeClock({ now: Date.UTC(2030, 0, 1) });
  const model = scriptedClient({ text: "Hi." }).with({ name: "other", clock });
  await model.evaluate(prompt, { session: new Session({ bus }) });
  const stamp = { adapter: "other", createdAt: "2030-01-01T00:00:00.000Z" };
  expect(bus.of("PromptExecuted")).toEqual([expect.objectContaining(stamp)]);
});

test("omitted parts of a scripted turn are empty, and its calls get unique ids", async () => {
  const calls = [{ name: "tick" }, { name: "tick", callId: "mine", arguments: "{}" }];
  const model = scriptedClient({ toolCalls: calls }, { text: "Done.", usage: { inputTokens: 2 } });
  const bus = recordingBus();
  await model.evaluate(prompt, { session: new Session({ bus }) });
  const [first, second] = bus.of("TurnCompleted");
  expect(first?.toolCalls).toEqual([
    { name: "tick", callId: "call_1_1", arguments: "{}" },
    { name: "tick", callId: "mine", arguments: "{}" },
  ]);
  expect(second?.usage).toMatchObject({ inputTokens: 2, outputTokens: 0, totalTokens: 2 });
});

test("deltas are the pieces in which a scripted text arrives, around the calls of its turn", async () => {
  const model = scriptedClient(
    {
      deltas: ["Ti", "", "ck."],
      hostedCalls: [{ name: "web_search" }],
      toolCalls: [{ name: "tick" }],
    },
    { text: "Done.", deltas: ["Do", "ne."] },
  );
  const hostedTools = [webSearchTool()];
  const searching = new MarkdownSection({ key: "s", title: "S", template: "Search.", hostedTools });
  const sections = [task, searching];
  const stream = model.stream(new Prompt(new PromptTemplate({ ns: "test", key: "s", sections })));
  const parts: string[] = [];
  for await (const event of stream) {
    if (event.type === "hostedCall") parts.push(`${event.turn} ${event.kind} ${event.status}`);
    else if (event.type === "toolCall") parts.push(`${event.turn} ${event.name} ${event.delta}`);
    else if (event.type === "text") parts.push(`${event.turn} ${event.delta}`);
  }
  const first = ["1 web_search completed", "1 Ti", "1 ck.", "1 tick {}"];
  expect(parts).toEqual([...first, "2 Do", "2 ne."]);
  expect((await stream.response).text).toBe("Done.");
});

test("deltas without a text are its pieces for evaluate() too", async () => {
  const { text } = await scriptedClient({ deltas: ["Hel", "lo."] }).evaluate(prompt);
  expect(text).toBe("Hello.");
});

test("deltas that are not the pieces of the text are refused", () => {
  expect(() => scriptedClient({ text: "Hello.", deltas: ["Hel", "l."] })).toThrow(
    /^scriptedClient\(script\)\[0\]\.deltas must be the pieces of `text`, got \["Hel","l\."\]\. Omit `text`/,
  );
});

test.each(["evaluate", "stream"] as const)(
  "%s() of scriptedClient() passes the library's own options on",
  async (method) => {
    const slow = { promptName: "", kind: "rate_limit", retryAfterMs: 120_000 } as const;
    const model = scriptedClient(calling, new ThrottleError("Slow down.", slow)).with({
      clock: fakeClock(), // nothing moves it, so a wait would not end
    });
    const barriers: string[] = [];
    const options: NestedOptions = {
      session: new Session({ id: "run", store: new MemorySessionStore() }),
      [onBarrier]: (barrier) => void barriers.push(barrier),
      [maxThrottleWaitMs]: 60_000,
    };
    const response =
      method === "evaluate"
        ? model.evaluate(prompt, options)
        : model.stream(prompt, options).response;
    await expect(response).rejects.toMatchObject({ name: "ThrottleError", retryAfterMs: 120_000 });
    expect(barriers).toEqual(["claimed", "turn-completed", "calls-started"]);
  },
);
