import * as api from "@opentelemetry/api";
import { describe, expect, test, vi } from "vitest";
import {
  Deadline,
  type EvaluateOptions,
  EvaluationParkedError,
  InProcessEventBus,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  ThrottleError,
  Tool,
  ToolResult,
} from "weakincentives";
import { instrument } from "weakincentives/telemetry";
import { fakeClock, type ScriptStep, scriptedClient } from "weakincentives/testing";
import { MemorySessionStore } from "../support/memory-session-store.ts";
import { reopenSession } from "../support/resume/reopen-session.ts";
import { createTraceFixture, formatTree } from "../support/telemetry/trace-fixture.ts";

function createPrompt(...tools: readonly Tool[]): Prompt<string> {
  const section = new MarkdownSection({ key: "task", title: "Task", template: "Go.", tools });
  return new Prompt(new PromptTemplate({ ns: "test", key: "ends", sections: [section] }));
}

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  effects: "none",
  handler: () => ToolResult.ok(null, "Seen."),
});

/** Evaluates a prompt that fails. */
async function runToError(
  script: readonly ScriptStep[],
  options: Partial<EvaluateOptions>,
  prompt = createPrompt(look),
): Promise<unknown> {
  const model = scriptedClient(...script).with({ clock: fakeClock({ skipsSleep: true }) });
  const [ended] = await Promise.allSettled([model.evaluate(prompt, options)]);
  if (ended.status === "fulfilled") throw new Error("The evaluation did not fail.");
  return ended.reason;
}

describe("an evaluation that fails", () => {
  test("ends its spans with the class, the phase and the kind of the error", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const throttled = new ThrottleError("Slow down, Ms. Private", {
      promptName: "p",
      kind: "server",
    });
    const steps = Array.from({ length: 20 }, () => throttled);
    await runToError([{ toolCalls: [{ name: "look" }] }, ...steps], { session });
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:ends (error)",
      "  chat",
      "  execute_tool look",
      "  chat (error)",
    ]);
    const error = {
      "error.type": "ThrottleError",
      "wink.error.phase": "request",
      "wink.error.kind": "server",
    };
    const [agent, , , chat] = fixture.listSpans();
    expect(chat?.attributes).toMatchObject(error);
    expect(agent?.attributes).toMatchObject({ ...error, "wink.evaluation.outcome": "failed" });
    expect(agent?.attributes["wink.evaluation.turns"]).toBe(1);
    for (const { status } of [agent, chat].filter((span) => span !== undefined)) {
      expect(status.message).toBeUndefined();
    }
    expect(fixture.countOpen()).toBe(0);
  });

  test("before its prompt is rendered has a span", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const deadline = Deadline.at(new Date(0));
    await runToError([{ text: "Never." }], { session, deadline });
    expect(formatTree(fixture.listSpans())).toEqual(["invoke_agent test:ends (error)"]);
    const [agent] = fixture.listSpans();
    expect(agent?.attributes["error.type"]).toBe("DeadlineExceededError");
  });

  test("has the usage and the cost of its turns", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const turn = { toolCalls: [{ name: "look" }], usage: { inputTokens: 7 }, costUsd: 0.25 };
    await runToError([turn, new Error("No.")], { session });
    expect(fixture.findSpan("invoke_agent test:ends").attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 7,
      "wink.cost_usd": 0.25,
      "wink.evaluation.outcome": "failed",
    });
  });

  test("because its session cannot be stored ends its spans, without an event about it", async () => {
    const fixture = createTraceFixture();
    const store = new MemorySessionStore();
    const session = new Session({ store, id: "s" });
    fixture.instrument(session);
    const steps: ScriptStep[] = [
      async () => {
        store.failure = new Error("The disk is full");
        return { toolCalls: [{ name: "look" }] };
      },
    ];
    await runToError(steps, { session });
    expect(fixture.countOpen()).toBe(0);
    const agent = fixture.findSpan("invoke_agent test:ends");
    expect(agent.attributes).toMatchObject({
      "wink.evaluation.outcome": "failed",
      "wink.error.phase": "store",
    });
  });
});

describe("an evaluation that is cancelled", () => {
  test("ends the spans of its request and of itself", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const stop = new AbortController();
    const steps: ScriptStep[] = [
      async ({ signal }) => {
        stop.abort();
        signal.throwIfAborted();
        return { text: "Never." };
      },
    ];
    await runToError(steps, { session, signal: stop.signal });
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:ends (error)",
      "  chat (error)",
    ]);
    const [agent] = fixture.listSpans();
    expect(agent?.attributes).toMatchObject({
      "error.type": "AbortError",
      "wink.evaluation.outcome": "cancelled",
    });
  });

  test("during a call ends the spans of the call and of a nested evaluation", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const stop = new AbortController();
    const wait = new Tool({
      name: "wait",
      description: "Waits.",
      params: null,
      handler: async (_params, context) => {
        stop.abort("enough");
        await context.adapter.evaluate(createPrompt(), {
          session: context.session,
          signal: stop.signal,
        });
        return ToolResult.ok(null);
      },
    });
    const steps = [{ toolCalls: [{ name: "wait" }] }];
    await runToError(steps, { session, signal: stop.signal }, createPrompt(wait));
    await expect.poll(fixture.countOpen).toBe(0);
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:ends (error)",
      "  chat",
      "  execute_tool wait (error)",
      "    invoke_agent test:ends (error)",
    ]);
    const [agent] = fixture.listSpans();
    expect(agent?.attributes["error.type"]).toBe("_OTHER"); // the reason is not an error
  });
});

describe("an evaluation on a stored session", () => {
  const pay = new Tool({
    name: "pay",
    description: "Pays.",
    params: null,
    effects: "once",
    needsApproval: true,
    handler: () => ToolResult.ok(null, "Paid."),
  });

  test("that is parked ends without an error, and continues in a trace that is marked as resumed", async () => {
    const fixture = createTraceFixture();
    const store = new MemorySessionStore();
    const session = new Session({ store, id: "s" });
    fixture.instrument(session);
    const approve = async () => "park" as const;
    const steps = [{ toolCalls: [{ name: "pay" }], usage: { inputTokens: 7 } }];
    const parked = await runToError(steps, { session, approve }, createPrompt(pay));
    if (!(parked instanceof EvaluationParkedError)) throw parked;
    expect(formatTree(fixture.listSpans())).toEqual(["invoke_agent test:ends", "  chat"]);
    expect(fixture.listSpans()[0]?.attributes).toMatchObject({
      "wink.evaluation.outcome": "parked",
      "wink.evaluation.resumed": false,
    });
    await session.close();

    const later = createTraceFixture();
    const reopened = await reopenSession(store);
    later.instrument(reopened);
    const approvals = Object.fromEntries(
      parked.approvals.map(({ key }) => [key, "approve" as const]),
    );
    const model = scriptedClient({ text: "Paid.", usage: { inputTokens: 9 } });
    await model.evaluate(createPrompt(pay), { session: reopened, resume: true, approvals });
    expect(formatTree(later.listSpans())).toEqual([
      "invoke_agent test:ends",
      "  execute_tool pay",
      "  chat",
    ]);
    expect(later.listSpans()[0]?.attributes).toMatchObject({
      "gen_ai.conversation.id": "s",
      "gen_ai.usage.input_tokens": 9, // of this process only: the parked turn is in the other trace
      "wink.evaluation.outcome": "completed",
      "wink.evaluation.resumed": true,
      "wink.evaluation.turns": 1,
    });

    const again = scriptedClient();
    await again.evaluate(createPrompt(pay), { session: reopened, resume: true });
    const stored = later.listSpans().at(-1);
    expect(stored?.attributes["wink.evaluation.turns"]).toBe(0); // the answer was stored
    expect(later.countOpen()).toBe(0);
  });
});

describe("instrument()", () => {
  test("ends open spans when it is disposed, and does not disturb the evaluation", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    const telemetry = fixture.instrument(session);
    const blink = new Tool({
      name: "blink",
      description: "Blinks.",
      params: null,
      handler: () => {
        telemetry[Symbol.dispose]();
        return ToolResult.ok(null);
      },
    });
    const model = scriptedClient({ toolCalls: [{ name: "blink" }] }, { text: "Done." });
    const { text } = await model.evaluate(createPrompt(blink), { session });
    expect(text).toBe("Done.");
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:ends",
      "  chat",
      "  execute_tool blink",
    ]);
    expect(fixture.countOpen()).toBe(0);
    const [agent] = fixture.listSpans();
    expect(agent?.attributes["wink.evaluation.outcome"]).toBe("unfinished");
    const metrics = await fixture.readMetrics();
    const durations = metrics.get("gen_ai.client.operation.duration")?.dataPoints ?? [];
    const operations = durations.map(({ attributes }) => attributes["gen_ai.operation.name"]);
    expect(operations).toEqual(["chat"]);
  });

  test("ends the span of a request when it is disposed during the request, also if that fails", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    const telemetry = fixture.instrument(session);
    const steps: ScriptStep[] = [
      async () => {
        telemetry[Symbol.dispose]();
        throw new Error("No.");
      },
    ];
    await runToError(steps, { session });
    expect(formatTree(fixture.listSpans())).toEqual(["invoke_agent test:ends", "  chat"]);
  });

  test("of a session ignores the other sessions of its bus", async () => {
    const fixture = createTraceFixture();
    const bus = new InProcessEventBus();
    const session = new Session({ bus, id: "mine" });
    fixture.instrument(session);
    const delegate = new Tool({
      name: "delegate",
      description: "Delegates.",
      params: null,
      handler: async () => {
        const other = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Seen." });
        await other.evaluate(createPrompt(look), { session: new Session({ bus, id: "other" }) });
        return ToolResult.ok(null);
      },
    });
    const model = scriptedClient({ toolCalls: [{ name: "delegate" }] }, { text: "Done." });
    await model.evaluate(createPrompt(delegate), { session });
    const tree = ["invoke_agent test:ends", "  chat", "  execute_tool delegate", "  chat"];
    expect(formatTree(fixture.listSpans())).toEqual(tree);
  });

  test("of a bus keeps its sessions apart, also if they run at the same time", async () => {
    const fixture = createTraceFixture();
    const bus = new InProcessEventBus();
    fixture.instrument(bus);
    const run = async (id: string) => {
      const model = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Seen." });
      await model.evaluate(createPrompt(look), { session: new Session({ bus, id }) });
    };
    await Promise.all(["a", "b", "c"].map(run));
    const roots = fixture.listSpans().filter(({ parentSpanContext }) => !parentSpanContext);
    expect(roots.map(({ attributes }) => attributes["gen_ai.conversation.id"])).toEqual([..."abc"]);
    const one = ["invoke_agent test:ends", "  chat", "  execute_tool look", "  chat"];
    expect(formatTree(fixture.listSpans())).toEqual([...one, ...one, ...one]);
    expect(new Set(fixture.listSpans().map((span) => span.spanContext().traceId)).size).toBe(3);
  });

  test("can be called twice, for two tracers", async () => {
    const [one, other] = [createTraceFixture(), createTraceFixture()];
    const session = new Session();
    one.instrument(session);
    other.instrument(session);
    await scriptedClient({ text: "Hello." }).evaluate(createPrompt(), { session });
    expect(one.listSpans()).toHaveLength(2);
    expect(other.listSpans()).toHaveLength(2);
  });

  test("uses the module that is passed as api, for bundles", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session, { api });
    await scriptedClient({ text: "Hello." }).evaluate(createPrompt(), { session });
    expect(formatTree(fixture.listSpans())).toEqual(["invoke_agent test:ends", "  chat"]);
  });

  test("works without an OpenTelemetry SDK, and then records nothing", async () => {
    const session = new Session();
    using _telemetry = instrument(session);
    const { text } = await scriptedClient({ text: "Hello." }).evaluate(createPrompt(), { session });
    expect(text).toBe("Hello.");
  });

  test("only warns if a tracer throws", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { meter, tracer } = createTraceFixture();
    for (const isBroken of [() => true, (name: string) => !name.startsWith("invoke_agent")]) {
      const broken = {
        startSpan: (name: string, ...rest: []) => {
          if (isBroken(name)) throw new Error("The tracer is broken");
          return tracer.startSpan(name, ...rest);
        },
      } as unknown as api.Tracer;
      const session = new Session();
      using _telemetry = instrument(session, { tracer: broken, meter });
      const model = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Seen." });
      expect((await model.evaluate(createPrompt(look), { session })).text).toBe("Seen.");
    }
    expect(warn).toHaveBeenCalledWith(
      "Telemetry of an evaluation failed: The tracer is broken",
      "WinkWarning",
    );
    warn.mockRestore();
  });
});
