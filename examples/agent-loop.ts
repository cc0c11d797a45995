/** Runs one request of an agent loop without a queue, in a session that another process could continue. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePrompt, type ProviderAdapter, Session } from "weakincentives";
import { AgentLoop } from "weakincentives/fleet";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

// A scripted model answers once. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const isLive = process.argv.includes("--live");
const createAdapter = (): ProviderAdapter =>
  isLive
    ? new OpenAIAdapter({ model: "gpt-5.2" })
    : scriptedClient({ text: '{ "title": "Loaves left over" }' });

const summarize = new AgentLoop({
  name: "summarize",
  request: z.object({ text: z.string() }),
  prepare: ({ text }) => ({
    prompt: definePrompt({
      name: "summarize",
      instructions: "Write a title of three words.",
      output: z.object({ title: z.string() }),
    }),
    input: text,
  }),
  adapter: createAdapter,
  finalize: ({ title }) => title,
  limits: { deadlineMs: 60_000 },
});

const folder = await mkdtemp(join(tmpdir(), "titles-"));
const store = new JsonlSessionStore(folder);
const request = { text: "3 of 15 loaves of rye bread are left." };
try {
  const session = await Session.openOrCreate(store, "note-1");
  console.log(await summarize.execute(request, { session }));
  // Later, perhaps after a crash: the answer is in the session, so no request is sent.
  const again = await Session.openOrCreate(store, "note-1");
  console.log(await summarize.execute(request, { session: again }));
} finally {
  await store.close();
  await rm(folder, { recursive: true });
}
// prints: Loaves left over
// prints: Loaves left over
