/** A web handler that streams an answer to a page, and two other readers of a stream. */
import { definePrompt } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const answer = "Rye needs time: a sourdough, a long rise and an oven that is hot at first.";
const recipe = { bread: "rye", grams: [500, 350, 10] };
const provider = new LocalProvider({
  model: scriptedModel([
    [{ say: answer }],
    [{ say: recipe }],
    [{ say: answer }, { stall: 60_000 }],
  ]),
});
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
const baker = definePrompt({ name: "baker", instructions: "You answer questions about bread." });

/** Works in Hono, Next.js, Bun, Deno and other frameworks that use the web's `Request` and `Response`. */
async function handle(request: Request): Promise<Response> {
  const stream = adapter.stream(baker, { input: await request.text(), signal: request.signal });
  return stream.toResponse();
}

try {
  const body = "What does rye need?";
  const page = await handle(new Request("http://localhost/chat", { method: "POST", body }));
  console.log(page.headers.get("content-type"));
  const events = (await page.text()).split("\n\n").filter((event) => event.startsWith("data: "));
  const texts = events.map((event) => JSON.parse(event.slice("data: ".length)).delta);
  console.log(`${texts.length > 1 ? "In parts" : "At once"}: ${texts.join("")}`);

  const output = z.object({ bread: z.string(), grams: z.array(z.number()) });
  const writer = definePrompt({ name: "writer", instructions: "Write a recipe.", output });
  const growing = adapter.stream(writer, { input: "Rye, please." });
  let latest: { readonly grams?: readonly number[] } = {};
  for await (const value of growing.partialOutput()) latest = value; // show it on the page
  console.log(`The recipe: ${latest.grams?.join(" g, ")} g`);

  const ended = adapter.stream(baker, { input: "Tell me everything." });
  for await (const delta of ended.text()) if (delta !== "") break; // the only reader leaves
  await ended.response.catch(({ name }) => console.log(`cancelled: ${name}`));
} finally {
  await provider.close();
}
// prints: text/event-stream
// prints: In parts: Rye needs time: a sourdough, a long rise and an oven that is hot at first.
// prints: The recipe: 500 g, 350 g, 10 g
// prints: cancelled: AbortError
