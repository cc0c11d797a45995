/** Finishes a turn whose connection is cut, without paying for it twice. */
import { definePrompt } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

// A scripted model. With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const provider = new LocalProvider({
  model: scriptedModel([[{ think: "Let me see." }, { say: "May was better than April." }]]),
});
const { url } = await provider.listen();
const server = process.argv.includes("--live") ? {} : { baseURL: url, apiKey: "local" };

/** Prints each request, and cuts the first connection after five events. */
const cutFirst: typeof fetch = async (input, init) => {
  const { pathname, searchParams } = new URL(String(input));
  const after = searchParams.get("starting_after");
  const from = after === null ? "" : ` after event ${after}`;
  console.log(`${init?.method} ${pathname.replace(/resp_\w+/, "resp_1")}${from}`);
  const response = await fetch(input, init);
  if (!response.body || after !== null) return response;
  const events = takeEvents(response.body, 5);
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await events.next();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  return new Response(new ReadableStream({ pull }), response);
};

async function* takeEvents(body: ReadableStream<Uint8Array>, count: number) {
  const decoder = new TextDecoder();
  let [text, left] = ["", count];
  for await (const chunk of body) {
    const events = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      if (left-- <= 0) throw new TypeError("terminated");
      yield new TextEncoder().encode(`${event}\n\n`);
    }
  }
}

const adapter = new OpenAIAdapter({
  model: "gpt-5.2",
  delivery: "background",
  clientConfig: { ...server, fetch: cutFirst },
});
const analyst = definePrompt({ name: "analyst", instructions: "You analyze sales." });

try {
  const { text } = await adapter.evaluate(analyst, { input: "How was May?" });
  console.log(text);
} finally {
  await provider.close();
}
// prints: POST /v1/responses
// prints: GET /v1/responses/resp_1 after event 4
// prints: May was better than April.
