import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../../base/errors.ts";
import type { FeedbackProvider } from "../../prompt/feedback.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { type ScriptStep, scriptedClient } from "../../testing/scripted-client.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { ResourceRegistry, resource } from "../../tools/resources.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { toolLog } from "../log-slices.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null, "Looked."),
});

const createTemplate = (feedback: readonly FeedbackProvider[]) => {
  const hostedTools = [webSearchTool()];
  const task = new MarkdownSection({
    key: "t",
    title: "T",
    template: "",
    tools: [look],
    hostedTools,
  });
  return new PromptTemplate({ ns: "demo", key: "k", sections: [task], feedback });
};

async function evaluateWithFeedback(
  feedback: readonly FeedbackProvider[],
  ...script: readonly ScriptStep[]
) {
  const warned: unknown[] = [];
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn: (...entry: unknown[]) => void warned.push(entry),
  };
  const model = scriptedClient(...script).with({ logger });
  const session = new Session().register(toolLog);
  await model.evaluate(new Prompt(createTemplate(feedback)), { session });
  return { asked: model.asked, warned };
}

const calling = { toolCalls: [{ name: "look" }, { name: "look" }] };
const done = { text: "Done." };

describe("feedback", () => {
  test("reaches the model after each tool result, from all providers with a text", async () => {
    const counting: FeedbackProvider = {
      name: "count",
      provide: async ({ session }) => `${session.get(toolLog).length} calls so far.`,
    };
    const silent: FeedbackProvider = { name: "silent", provide: () => null };
    const polite: FeedbackProvider = { name: "polite", provide: () => "Thank you." };
    const { asked: requests } = await evaluateWithFeedback(
      [counting, silent, polite],
      calling,
      done,
    );
    const createExpectedText = (calls: number) =>
      `Looked.\n\n<feedback provider="count">\n${calls} calls so far.\n</feedback>\n\n<feedback provider="polite">\nThank you.\n</feedback>`;
    expect(requests[1]?.answers.map(({ text }) => text)).toEqual([
      createExpectedText(1),
      createExpectedText(2),
    ]);
    expect(requests[1]?.notes).toEqual([]);
  });

  test("is the next input after a call that the provider ran", async () => {
    const provider: FeedbackProvider = { name: "f", provide: () => "Cite it." };
    const searching = {
      hostedCalls: [{ name: "web_search", output: {} }],
      toolCalls: [{ name: "look" }],
    };
    const { asked: requests } = await evaluateWithFeedback([provider], searching, done);
    const block = '<feedback provider="f">\nCite it.\n</feedback>';
    expect(requests[0]?.notes).toEqual([]);
    expect(requests[1]?.notes).toEqual([block]);
    expect(requests[1]?.answers[0]?.text).toBe(`Looked.\n\n${block}`);
  });

  test("that fails is logged, and the evaluation continues", async () => {
    const broken: FeedbackProvider = {
      name: "broken",
      provide: () => {
        throw new Error("no idea");
      },
    };
    const { asked: requests, warned } = await evaluateWithFeedback(
      [broken],
      { toolCalls: [{ name: "look" }] },
      done,
    );
    expect(requests[1]?.answers[0]?.text).toBe("Looked.");
    expect(warned).toEqual([
      ["a feedback provider failed", { provider: "broken", problem: "no idea" }],
    ]);
  });
});

test.each([
  5,
  [{}],
  [{ name: "", provide() {} }],
  [{ name: 'a"b', provide() {} }],
  [{ name: "a" }],
])("PromptTemplate rejects %j as feedback", (feedback) => {
  expect(() => createTemplate(feedback as never)).toThrow(PromptValidationError);
  expect(() => createTemplate(feedback as never)).toThrow("must be an array of feedback providers");
});

describe("feedback is optional:", () => {
  const key = resource<Disposable>("notes");
  const closing = new ResourceRegistry().bind(
    key,
    () => ({
      [Symbol.dispose]: () => {
        throw new Error("still open");
      },
    }),
    { scope: "tool" },
  );

  test("a resource that fails to close does not end the evaluation", async () => {
    const provider: FeedbackProvider = {
      name: "noting",
      provide: ({ resources }) => (resources.get(key) ? "Noted." : null),
    };
    const model = scriptedClient({ toolCalls: [{ name: "look" }] }, done);
    const options = { session: new Session(), resources: closing };
    const { text } = await model.evaluate(new Prompt(createTemplate([provider])), options);
    expect(text).toBe("Done.");
    expect(model.asked[1]?.answers[0]?.text).toContain("Noted.");
  });

  test("a provider that never resolves is ended by cancellation", async () => {
    const stop = new AbortController();
    const endless: FeedbackProvider = {
      name: "endless",
      provide: () => {
        queueMicrotask(() => stop.abort("enough"));
        return new Promise(() => {});
      },
    };
    const model = scriptedClient({ toolCalls: [{ name: "look" }] }, done);
    const options = { session: new Session(), signal: stop.signal };
    const work = model.evaluate(new Prompt(createTemplate([endless])), options);
    await expect(work).rejects.toBe("enough");
  });
});
