import { onTestFinished } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { listen } from "../../../../src/local/http/listen.ts";
import { getExpectedAnswer, parseRequest } from "./storm-loop.ts";

type Item = Readonly<Record<string, unknown>>;

/** Starts a provider that outlives the workers of a storm. `onTurn` is called for each response that is paid for. */
export async function startBackgroundProvider(onTurn: () => void): Promise<string> {
  const model = scriptedModel(({ items }) => chooseActions(items as readonly Item[]));
  const provider = new LocalProvider({ model });
  const listening = await listen(async (request) => {
    const body = await request.text();
    const { method, headers, url } = request;
    if (method === "POST" && url.endsWith("/responses")) onTurn();
    return await provider.fetch(url, { method, headers, ...(body && { body }) });
  }, {});
  onTestFinished(async () => {
    await listening.close();
    await provider.close();
  });
  return listening.url;
}

/** Takes the step after the last one in the history. */
function chooseActions(items: readonly Item[]): readonly ModelAction[] {
  const request = parseRequest(JSON.stringify(items));
  const { run, steps } = request;
  const step = items.filter(({ type }) => type === "function_call_output").length / 2 + 1;
  const stall: ModelAction = { stall: Math.round(1_000 + Math.random() * 1_000) };
  if (step > steps) return [stall, { say: getExpectedAnswer(request) }];
  const calls = ["charge", "note"].map((name) => ({
    call: { name, callId: `call_${name}_${step}`, args: { run, step } },
  }));
  return [stall, ...calls];
}
