import { expect, test } from "vitest";
import type { EvaluateOptions, ProviderAdapter } from "../adapter/provider-adapter.ts";
import { adapterContract } from "./adapter-contract.ts";
import type { MakeSubject } from "./contract/subject.ts";
import { fakeClock } from "./fake-clock.ts";
import { scriptedSubject } from "./scripted-subject.ts";

/** An adapter that forgets something it was told, and what the contract must find. */
const broken: readonly (readonly [
  string,
  (adapter: ProviderAdapter) => ProviderAdapter,
  string,
])[] = [
  ["the budget", forgetting("budgetTracker"), "a budget stops the evaluation before the next step"],
  ["the deadline", forgetting("deadline"), "a deadline that has passed is refused"],
  ["maxTurns", forgetting("maxTurns"), "maxTurns ends a model that never answers"],
  ["the resources", forgetting("resources"), "handlers find resources"],
  ["what is allowed", forgetting("allowHostedTools"), "allowHostedTools leaves hosted tools out"],
  ["the tool choice", forgetting("toolChoice"), "a tool choice that names nothing is refused"],
  ["the text", answering({ text: "" }), "an answer is the response's text and output"],
  ["the output", answering({ output: null }), "structured output is read and typed"],
  ["the usage", answering({ usage: null }), "usage is summed over all turns"],
  ["the hosted calls", answering({ hostedCalls: [] }), "a hosted call is an ordinary event"],
  ["what went wrong", vague, "an answer that does not fit"],
];

test.each(broken)("an adapter that forgets %s breaks the contract", async (_what, spoil, name) => {
  const make: MakeSubject = async (script, options) => {
    const subject = await scriptedSubject(script, options);
    return { ...subject, adapter: spoil(subject.adapter) };
  };
  const found = adapterContract(make).find((one) => one.name.startsWith(name));
  await expect(found?.run()).rejects.toThrow();
});

test("an adapter that sends nothing of the prompt breaks the contract", async () => {
  const make: MakeSubject = async (script, options) => {
    const subject = await scriptedSubject(script, options);
    return { ...subject, asked: () => subject.asked().map(() => "") };
  };
  const failed: string[] = [];
  for (const { name, run } of adapterContract(make).slice(0, 12)) {
    await run().catch(() => failed.push(name));
  }
  expect(failed).toContain("an answer is the response's text and output, and the prompt was sent");
  expect(failed).toContain(
    "calls of one turn run in order and their results reach the model in order",
  );
});

test("what was made for a case is closed, whether it held or not", async () => {
  let closed = 0;
  const make: MakeSubject = async (script, options) => ({
    ...(await scriptedSubject(script, options)),
    asked: () => [],
    close: () => void closed++,
  });
  const [holds, breaks] = [adapterContract(make)[2], adapterContract(make)[0]];
  await holds?.run();
  await expect(breaks?.run()).rejects.toThrow();
  expect(closed).toBe(2);
});

test("an adapter that does not wait as long as it was asked to breaks the contract", async () => {
  const hasty: MakeSubject = (script) =>
    scriptedSubject(script, { clock: fakeClock({ skipsSleep: true }) });
  const found = adapterContract(hasty).find(({ name }) => name.startsWith("a throttled request"));
  await expect(found?.run()).rejects.toThrow("It did not wait");
});

/** Fails as anything may fail. */
function vague(adapter: ProviderAdapter): ProviderAdapter {
  return {
    name: adapter.name,
    evaluate: (prompt, options) =>
      adapter.evaluate(prompt, options).catch(() => {
        throw new Error("It failed.");
      }),
  };
}

function forgetting(option: keyof EvaluateOptions) {
  return (adapter: ProviderAdapter): ProviderAdapter => ({
    name: adapter.name,
    evaluate: (prompt, options) => adapter.evaluate(prompt, { ...options, [option]: undefined }),
  });
}

function answering(part: object) {
  return (adapter: ProviderAdapter): ProviderAdapter => ({
    name: adapter.name,
    evaluate: async (prompt, options) => ({
      ...(await adapter.evaluate(prompt, options)),
      ...part,
    }),
  });
}
