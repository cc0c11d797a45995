import { expect } from "vitest";
import { definePrompt } from "weakincentives";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import { toStream } from "../../../src/openai/http/transport.ts";
import type { ConversationCase } from "./conversation-case.ts";

const numbers = "one two three four five six seven eight nine ten eleven twelve";
const prompt = definePrompt({ name: "live:count", instructions: "Write numbers as words." });
const input = "Count to twelve.";

/** The tests of `delivery: "background"`. */
export const backgroundCases: readonly ConversationCase[] = [
  {
    name: "runs a response in the background",
    script: [[{ say: numbers }]],
    async run(options) {
      const { adapter, requests } = createAdapter(options);
      const { text, usage } = await adapter.evaluate(prompt, { input });
      expect(text.toLowerCase()).toContain("twelve");
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect(requests).toMatchObject([{ method: "POST", body: { background: true, store: true } }]);
    },
  },
  {
    name: "resumes the stream of a response in the background after its last event",
    script: [[{ say: numbers }]],
    async run(options) {
      const { adapter, requests } = createAdapter(options, 8);
      const stream = adapter.stream(prompt, { input });
      const deltas: string[] = [];
      for await (const delta of stream.text()) deltas.push(delta);
      const { text } = await stream.response;
      expect(deltas.join("")).toBe(text);
      expect(text.toLowerCase()).toContain("twelve");
      const [submission, ...resumptions] = requests;
      expect(submission?.method).toBe("POST");
      expect(resumptions.length).toBeGreaterThan(0);
      for (const { method, url } of resumptions) {
        expect(method).toBe("GET");
        expect(url.searchParams.get("stream")).toBe("true");
        expect(Number(url.searchParams.get("starting_after"))).toBeGreaterThan(0);
      }
    },
  },
  {
    name: "cancels a response in the background at the provider",
    script: [[{ say: numbers }, { stall: 60_000 }]],
    async run(options) {
      const { adapter, requests } = createAdapter(options);
      const stop = new AbortController();
      const stream = adapter.stream(prompt, {
        input: "Count to one thousand.",
        signal: stop.signal,
      });
      for await (const delta of stream.text()) {
        expect(delta).not.toBe("");
        stop.abort(new Error("Enough."));
        break;
      }
      await expect(stream.response).rejects.toThrow("Enough.");
      const { url, answer } = requests.at(-1) ?? {};
      expect(url?.pathname).toMatch(/\/responses\/[^/]+\/cancel$/);
      expect(await answer?.json()).toMatchObject({ status: "cancelled" });
    },
  },
];

interface SentRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
  /** A copy of the response. */
  readonly answer: Response | null;
}

/** Creates an adapter that records its requests, and whose streams are cut after some events. */
function createAdapter(options: OpenAIAdapterOptions, eventsUntilCut = Number.POSITIVE_INFINITY) {
  const requests: SentRequest[] = [];
  const { fetch: send = fetch } = options.clientConfig ?? {};
  const record: typeof fetch = async (input, init) => {
    const response = await send(input, init);
    const { method = "GET", body } = init ?? {};
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    requests.push({
      method,
      url: new URL(String(input)),
      body: body ? JSON.parse(await new Response(body).text()) : null,
      answer: isStream ? null : response.clone(),
    });
    if (!isStream || !response.body) return response;
    const cut = cutStream(response.body, eventsUntilCut);
    return new Response(
      toStream(cut, () => {}),
      response,
    );
  };
  const clientConfig = { ...options.clientConfig, fetch: record };
  const adapter = new OpenAIAdapter({ ...options, delivery: "background", clientConfig });
  return { adapter, requests };
}

/** Yields this many events, and then fails as a lost connection does. */
async function* cutStream(
  body: AsyncIterable<Uint8Array>,
  events: number,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let [text, left] = ["", events];
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      if (left-- <= 0) throw new TypeError("terminated");
      yield new TextEncoder().encode(text.slice(0, end + 2));
      text = text.slice(end + 2);
    }
  }
}
