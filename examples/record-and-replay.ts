/** Records a run once, replays it without a network, and shows the difference that a changed prompt makes. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePrompt, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { cassette } from "weakincentives/testing";
import * as z from "zod";

const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of one kind that are left.",
  params: z.object({ kind: z.string() }),
  handler: () => ToolResult.ok({ left: 3 }),
});

/** The agent under test. It takes a `fetch`, so that a test can pass the one of a cassette. */
async function planBaking(fetch: typeof globalThis.fetch, instructions = "Plan the baking.") {
  const baker = definePrompt({ name: "bakery:baker", instructions, tools: [countLoaves] });
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { ...server, fetch } });
  const { text } = await adapter.evaluate(baker, { input: "How much rye bread?" });
  return text;
}

// A scripted model answers while the run is recorded. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const call = { name: "count_loaves", args: { kind: "rye" } };
const model = scriptedModel([[{ call }], [{ say: "Bake 12 loaves." }]]);
const provider = new LocalProvider({ model });
const { url } = await provider.listen();
const key = "sk-local-0123456789abcdef";
const server = process.argv.includes("--live") ? {} : { baseURL: url, apiKey: key };
const folder = await mkdtemp(join(tmpdir(), "baker-"));
const file = join(folder, "baker.cassette.jsonl");
try {
  const recorded = cassette(file, { mode: "record" });
  console.log(`recorded: ${await planBaking(recorded.fetch)}`);
  await recorded.close();
  await provider.close();
  console.log(`has the key: ${(await readFile(file, "utf8")).includes(key)}`);

  const replayed = cassette(file); // no server is running any more
  console.log(`replayed: ${await planBaking(replayed.fetch)}`);
  await replayed.close(); // throws if a recorded request was not sent

  const changed = cassette(file);
  await planBaking(changed.fetch, "Plan the roasting.").catch((error: Error) => {
    const lines = error.message.split("\n").filter((line) => /^ {2}[-+]/.test(line));
    console.log(lines.join("\n"));
  });
} finally {
  await provider.close();
  await rm(folder, { recursive: true });
}
// prints: recorded: Bake 12 loaves.
// prints: has the key: false
// prints: replayed: Bake 12 loaves.
// prints:   -Plan the baking.
// prints:   +Plan the roasting.
