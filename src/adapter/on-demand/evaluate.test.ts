import { expect, test } from "vitest";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { evaluate } from "./evaluate.ts";

const prompt = definePrompt({ name: "test:one", instructions: "Answer." });

test("runs the loop for a client, also for the first evaluations at once", async () => {
  const clients = [1, 2].map((number) => scriptedClient({ text: `Answer ${number}.` }));
  const responses = await Promise.all(
    clients.map((client) => evaluate(prompt, client, { adapter: client })),
  );
  expect(responses.map(({ text }) => text)).toEqual(["Answer 1.", "Answer 2."]);
});

test("rejects invalid options instead of throwing", async () => {
  const client = scriptedClient({ text: "No." });
  const rejected = evaluate(prompt, client, { adapter: client, maxTurns: 0 });
  await expect(rejected).rejects.toThrow("maxTurns");
});
