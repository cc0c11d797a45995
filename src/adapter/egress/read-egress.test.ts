import { expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import type { Logger } from "../../base/logger.ts";
import { LocalProvider, scriptedModel } from "../../local/index.ts";
import { OpenAIAdapter } from "../../openai/index.ts";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { InProcessEventBus } from "../../session/event-bus.ts";
import { Session } from "../../session/session.ts";
import type { EgressReported } from "./egress-reported.ts";

const prompt = definePrompt({ name: "greet", instructions: "Greet." });

function createAdapter(logger?: Logger): OpenAIAdapter {
  const provider = new LocalProvider({ model: scriptedModel([[{ say: "Hi." }]]) });
  return new OpenAIAdapter({ model: "local", logger, clientConfig: { fetch: provider.fetch } });
}

test("a stored session has the report of each evaluation, after its answer", async () => {
  const store = new MemorySessionStore();
  const session = new Session({ store, id: "s" });
  const { egress } = await createAdapter().evaluate(prompt, { session });
  await session.close();
  const events = (store.lines.get("s") ?? []).map((line) => JSON.parse(line).event ?? {});
  expect(events.slice(-2).map(({ type }) => type)).toEqual(["PromptExecuted", "EgressReported"]);
  expect(events.at(-1).egress).toEqual(egress);
  expect(egress.requests).toMatchObject([{ endpoint: "POST /responses", stored: true }]);
});

test("a failed evaluation reports what it sent", async () => {
  const bus = new InProcessEventBus();
  const reports: EgressReported[] = [];
  bus.subscribe("EgressReported", (event) => reports.push(event));
  const provider = new LocalProvider({
    model: scriptedModel([[{ fail: { status: 400, message: "No." } }]]),
  });
  const adapter = new OpenAIAdapter({ model: "local", clientConfig: { fetch: provider.fetch } });
  await expect(adapter.evaluate(prompt, { session: new Session({ bus }) })).rejects.toThrow(
    "status 400: No",
  );
  expect(reports).toMatchObject([
    {
      promptName: prompt.name,
      egress: { requests: [{ stored: false }], verdict: "nothing stored" },
    },
  ]);
});

test("no report is created for subscribers of all events", async () => {
  const bus = new InProcessEventBus();
  const types: string[] = [];
  bus.subscribe("*", ({ type }) => types.push(type));
  await createAdapter().evaluate(prompt, { session: new Session({ bus }) });
  expect(types).toContain("PromptExecuted");
  expect(types).not.toContain("EgressReported");
});

test("a report that cannot be published is logged, and the answer counts", async () => {
  const errors: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => errors.push(text) };
  const session = new Session({ store: new MemorySessionStore(), id: "s" });
  const dispatch = session.dispatch.bind(session);
  session.dispatch = (...events) => {
    if (events.some(({ type }) => type === "EgressReported")) throw new Error("full");
    dispatch(...events);
  };
  const { text } = await createAdapter(logger).evaluate(prompt, { session });
  expect(text).toBe("Hi.");
  expect(errors).toEqual(["EgressReported could not be published"]);
});
