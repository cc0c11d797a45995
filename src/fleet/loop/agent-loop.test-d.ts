import { expectTypeOf, test } from "vitest";
import * as z from "zod";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import type { EnqueuedRun, Fleet, RunId } from "../index.ts";
import { AgentLoop } from "./agent-loop.ts";

declare const fleet: Fleet;

const review = new AgentLoop({
  name: "review",
  request: z.object({
    repo: z.string(),
    depth: z.number().default(3),
    since: z.string().transform((text) => new Date(text)),
  }),
  prepare: (request) => {
    expectTypeOf(request).toEqualTypeOf<{ repo: string; depth: number; since: Date }>();
    return definePrompt({
      name: "review",
      instructions: "Review.",
      output: z.object({ findings: z.array(z.string()) }),
    });
  },
  adapter: () => scriptedClient(),
});

const count = new AgentLoop({
  name: "count",
  request: z.object({ text: z.string() }),
  prepare: ({ text }) => ({
    prompt: definePrompt({ name: "count", instructions: "Count." }),
    input: text,
  }),
  adapter: async () => scriptedClient(),
  finalize: (output, { response }) => {
    expectTypeOf(output).toEqualTypeOf<string>();
    expectTypeOf(response.output).toEqualTypeOf<string>();
    return output.length;
  },
});

test("the request of a loop is the schema's input, and its result the output or what finalize returns", async () => {
  type Input = { repo: string; since: string; depth?: number | undefined };
  expectTypeOf(review.execute).parameter(0).toEqualTypeOf<Input>();
  expectTypeOf(await review.execute({ repo: "r", since: "2026" })).toEqualTypeOf<{
    findings: string[];
  }>();
  expectTypeOf(await count.execute({ text: "t" })).toEqualTypeOf<number>();
  // @ts-expect-error: repo is missing
  await review.execute({ since: "2026" });
  // @ts-expect-error: the schema transforms a string
  await review.execute({ repo: "r", since: new Date(0) });
});

test("the id of a run carries the type of its result", async () => {
  const run = await fleet.enqueue(review, { repo: "r", since: "2026" }, { key: "k" });
  expectTypeOf(run).toEqualTypeOf<EnqueuedRun<{ findings: string[] }>>();
  expectTypeOf(await fleet.result(run.id)).toEqualTypeOf<{ findings: string[] }>();
  const counted = await fleet.enqueue(count, { text: "t" });
  expectTypeOf(await fleet.result(counted.id)).toEqualTypeOf<number>();
  expectTypeOf(await fleet.result("a text")).toEqualTypeOf<unknown>();
  const id: RunId = run.id;
  await fleet.cancel(id);
  // @ts-expect-error: n is not a field of the request
  await fleet.enqueue(count, { n: 1 });
  // @ts-expect-error: keys are texts
  await fleet.enqueue(count, { text: "t" }, { key: 1 });
});

test("a worker accepts loops of different types", () => {
  fleet.worker([review, count], { concurrency: 2 });
  void fleet.register(review, count);
  // @ts-expect-error: not a loop
  fleet.worker([{ name: "review" }]);
});

test("finalize and prepare are checked against each other", () => {
  new AgentLoop({
    name: "wrong",
    request: z.object({}),
    // @ts-expect-error: prepare returns a prompt
    prepare: () => "prompt",
    adapter: () => scriptedClient(),
  });
});
