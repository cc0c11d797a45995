import { readRecords, readString } from "../../../../src/base/json.ts";
import { OpenAIAdapter } from "../../../../src/openai/adapter.ts";
import type { WireItem } from "../../../../src/openai/wire.ts";
import type { CrashChild } from "../crash-child.ts";
import { type CrashSubject, createCrashPrompt } from "../crash-subject.ts";

/**
 * OpenAI's adapter and the server at the detail `url`. With the detail `delivery`, responses are delivered in
 * that way; with `store: "false"`, the provider stores nothing.
 */
export function createCrashSubject(child: CrashChild): CrashSubject {
  const { url = "", delivery, store } = child.details;
  const send: typeof fetch = async (input, init) => {
    const response = fetch(input, init);
    if (init?.method !== "POST" || !String(input).endsWith("/responses")) return await response;
    await response.catch(() => {}); // the server has the request now
    const items = readRecords(JSON.parse(String(await new Response(init.body).text())), "input");
    child.ledger.add({ what: "request", turn: getTurn(items), answers: listAnswers(items) });
    await child.reach("request");
    return await response;
  };
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    clientConfig: { apiKey: "sk-test", baseURL: url, fetch: send },
    throttle: { maxAttempts: 1 },
    ...(delivery && { delivery: delivery as "stream" }),
    ...(store === "false" && { modelConfig: { store: false } }),
  });
  return { adapter, prompt: createCrashPrompt(child) };
}

/** Returns the number of the turn that a request asks for. Every turn of the model has two calls. */
export function getTurn(items: readonly WireItem[]): number {
  return 1 + listOutputs(items).length / 2;
}

/** Returns the answers of the last turn's calls. */
function listAnswers(items: readonly WireItem[]): readonly string[] {
  return listOutputs(items).slice(-2);
}

function listOutputs(items: readonly WireItem[]): readonly string[] {
  const outputs = items.filter(({ type }) => type === "function_call_output");
  return outputs.map((item) => readString(item, "output"));
}
