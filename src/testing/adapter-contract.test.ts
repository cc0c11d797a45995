import { expect, test } from "vitest";
import type { NestedOptions } from "../adapter/nested-adapter.ts";
import type { EvaluateOptions, ProviderAdapter } from "../adapter/provider-adapter.ts";
import { streamEvaluation } from "../adapter/stream/stream-evaluation.ts";
import { type StreamFeed, streamFeed } from "../adapter/turn-observer.ts";
import { Session } from "../session/session.ts";
import { adapterContract } from "./adapter-contract.ts";
import type { MakeSubject } from "./contract/subject.ts";
import { fakeClock } from "./fake-clock.ts";
import { scriptedSubject } from "./scripted-subject.ts";

/** Adapters with one fault each, and the case that must find it. */
const broken: readonly (readonly [
  string,
  (adapter: ProviderAdapter) => ProviderAdapter,
  string,
])[] = [
  [
    "the budget",
    dropOption("budgetTracker"),
    "stops before the next request when the budget is exceeded, with the partial result",
  ],
  ["maxUsd", dropOption("budget"), "stops after the turn that costs more than maxUsd"],
  [
    "the deadline",
    dropOption("deadline"),
    "rejects a deadline that has passed before sending a request",
  ],
  ["maxTurns", dropOption("maxTurns"), "stops after maxTurns if the model never answers"],
  [
    "the resources",
    dropOption("resources"),
    "passes resources to handlers, closes the ones it created, and leaves the caller's open",
  ],
  [
    "allowHostedTools",
    dropOption("allowHostedTools"),
    "omits hosted tools that allowHostedTools forbids, and publishes HostedToolOmitted",
  ],
  [
    "the tool choice",
    dropOption("toolChoice"),
    "rejects a tool choice that names no tool before sending a request",
  ],
  [
    "the stored turns",
    dropOption("resume"),
    "resumes an interrupted evaluation with its answer, and starts no call again",
  ],
  [
    "the stored answer",
    dropOption("resume"),
    "answers a finished evaluation from the store, without a request",
  ],
  [
    "approve",
    dropOption("approve"),
    "runs a call that needs approval after approve has approved it",
  ],
  ["the need for approval", approveAll, "does not run a denied call, tells the model"],
  [
    "that no one can approve",
    approveAll,
    "denies a call that needs approval if the evaluation has no approve",
  ],
  ["that a call is parked", dropOption("approve"), "parks a call, and runs it once"],
  ["the approvals", dropOption("approvals"), "parks a call, and runs it once"],
  ["the denials", approveAll, "parks a call, and tells the model"],
  [
    "the text",
    overrideResponse({ text: "" }),
    "sends the prompt and returns the answer as text and output",
  ],
  [
    "the output",
    overrideResponse({ output: null }),
    "parses structured output and keeps the model's text",
  ],
  ["the usage", overrideResponse({ usage: null }), "adds up the usage of all turns"],
  [
    "the hosted calls",
    overrideResponse({ hostedCalls: [] }),
    "publishes a hosted call as ToolInvoked with its origin, before the local calls of its turn",
  ],
  [
    "the error",
    hideErrors,
    "rejects an answer that does not match the schema in phase parse, with its text in error.partial",
  ],
];

test.each(broken)(
  "adapterContract() detects an adapter that ignores %s",
  async (_what, spoil, name) => {
    const make: MakeSubject = async (script, options) => {
      const subject = await scriptedSubject(script, options);
      return { ...subject, adapter: spoil(subject.adapter) };
    };
    const all = adapterContract(make, { resumes: true });
    const found = all.find((one) => one.name.startsWith(name));
    await expect(found?.run()).rejects.toThrow();
  },
);

test("adapterContract() detects an adapter that ignores the input", async () => {
  const names = [
    "sends system text before user text, and the input of the evaluation last",
    "sends the input once, also if the evaluation has several turns",
  ];
  expect(await listFailures(dropOption("input"), names)).toEqual(names);
});

/** Adapters whose stream has one fault, and the cases that must find it. */
const brokenStreams: readonly (readonly [
  string,
  (adapter: ProviderAdapter) => ProviderAdapter,
  readonly string[],
])[] = [
  ["has no stream()", ({ name, evaluate }) => ({ name, evaluate }), ["evaluates without a reader"]],
  [
    "streams no parts",
    spoilStream((options) => ({ ...options, [streamFeed]: undefined })),
    [
      "streams text whose pieces are the text of the response",
      "streams the text of every turn, between the events of that turn",
      "streams the arguments of tool calls",
      "streams the status of hosted calls until they are completed",
    ],
  ],
  [
    "repeats parts",
    spoilStream((options) => ({ ...options, [streamFeed]: repeatParts(options[streamFeed]) })),
    [
      "streams text whose pieces are the text of the response",
      "streams the arguments of tool calls",
    ],
  ],
  [
    "uses another session than the stream's",
    spoilStream((options) => ({ ...options, session: new Session() })),
    ["streams the text of every turn, between the events of that turn"],
  ],
  [
    "replaces errors",
    (adapter) => {
      const { evaluate } = hideErrors(adapter);
      return {
        ...adapter,
        stream: (p, given) => streamEvaluation(p, given, (o) => evaluate(p, o)),
      };
    },
    [
      "cancels the evaluation with the reason of cancel()",
      "cancels the evaluation when its last reader leaves",
      "ends readers of a failed evaluation with its error, after its events",
    ],
  ],
];

test.each(brokenStreams)(
  "adapterContract() detects an adapter that %s",
  async (_what, spoil, names) => {
    expect(await listFailures(spoil, names)).toEqual(names);
  },
);

/** Lists the cases that an adapter fails, among those with these names. */
async function listFailures(
  spoil: (adapter: ProviderAdapter) => ProviderAdapter,
  names: readonly string[],
): Promise<readonly string[]> {
  const make: MakeSubject = async (script, options) => {
    const subject = await scriptedSubject(script, options);
    return { ...subject, adapter: spoil(subject.adapter) };
  };
  const failed: string[] = [];
  for (const { name, run } of adapterContract(make, { resumes: true, streams: true })) {
    if (names.includes(name)) await run().catch(() => failed.push(name));
  }
  return failed;
}

/** Approves every call without a question. */
function approveAll(adapter: ProviderAdapter): ProviderAdapter {
  const approve = async () => "approve" as const;
  return {
    ...adapter,
    evaluate: (prompt, options) => adapter.evaluate(prompt, { ...options, approve }),
  };
}

function spoilStream(change: (options: NestedOptions) => NestedOptions) {
  return (adapter: ProviderAdapter): ProviderAdapter => ({
    ...adapter,
    stream: (prompt, given) =>
      streamEvaluation(prompt, given, (options) => adapter.evaluate(prompt, change(options))),
  });
}

function repeatParts(feed: StreamFeed | undefined): StreamFeed {
  return {
    backlog: null,
    onRestart: () => {},
    onPart(part) {
      feed?.onPart(part);
      feed?.onPart(part);
    },
  };
}

test("adapterContract() detects an adapter that does not send the prompt", async () => {
  const make: MakeSubject = async (script, options) => {
    const subject = await scriptedSubject(script, options);
    return { ...subject, asked: () => subject.asked().map(() => "") };
  };
  const failed: string[] = [];
  for (const { name, run } of adapterContract(make).slice(0, 12)) {
    await run().catch(() => failed.push(name));
  }
  expect(failed).toContain("sends the prompt and returns the answer as text and output");
  expect(failed).toContain(
    "runs the calls of a turn in order and returns their results to the model in order",
  );
});

test("adapterContract() closes the subject of each case, even if it fails", async () => {
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

test("adapterContract() detects an adapter that retries too early", async () => {
  const hasty: MakeSubject = (script) =>
    scriptedSubject(script, { clock: fakeClock({ skipsSleep: true }) });
  const found = adapterContract(hasty).find(({ name }) =>
    name.startsWith("retries a throttled request after the provider's Retry-After time"),
  );
  await expect(found?.run()).rejects.toThrow(
    "The adapter retried before the Retry-After time had passed",
  );
});

/** Throws a generic error for every failure. */
function hideErrors(adapter: ProviderAdapter): ProviderAdapter {
  return {
    name: adapter.name,
    evaluate: (prompt, options) =>
      adapter.evaluate(prompt, options).catch(() => {
        throw new Error("It failed.");
      }),
  };
}

function dropOption(option: keyof EvaluateOptions) {
  return (adapter: ProviderAdapter): ProviderAdapter => ({
    name: adapter.name,
    evaluate: (prompt, options) => adapter.evaluate(prompt, { ...options, [option]: undefined }),
  });
}

function overrideResponse(part: object) {
  return (adapter: ProviderAdapter): ProviderAdapter => ({
    name: adapter.name,
    evaluate: async (prompt, options) => ({
      ...(await adapter.evaluate(prompt, options)),
      ...part,
    }),
  });
}
