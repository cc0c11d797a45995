import { onTestFinished } from "vitest";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { listen } from "../../../src/local/http/listen.ts";
import { hostSandbox } from "../host-sandbox.ts";

type Item = Readonly<Record<string, unknown>>;

/** Starts a provider that outlives the runs. `countTurns` returns how many turns of agents were paid for. */
export async function startStormProvider() {
  const provider = new LocalProvider({
    sandbox: hostSandbox(),
    model: scriptedModel(({ items }) => chooseActions(items as readonly Item[])),
  });
  let turns = 0;
  const listening = await listen(async (request) => {
    const body = await request.text();
    const { method, headers, url } = request;
    // The workspace's own requests offer none of the agent's tools.
    const isTurn = method === "POST" && url.endsWith("/responses") && body.includes('"charge"');
    if (isTurn) turns += 1;
    return await provider.fetch(url, { method, headers, ...(body && { body }) });
  }, {});
  onTestFinished(async () => {
    await listening.close();
    await provider.close();
  });
  return { url: listening.url, countTurns: () => turns };
}

/** Takes the step after the last one in the history: code in the workspace, then two calls. */
function chooseActions(items: readonly Item[]): readonly ModelAction[] {
  const texts = items.filter(({ role }) => role === "system").map(({ content }) => String(content));
  const goal = Math.max(...texts.map((text) => parseNumberAfter("up to step ", text)));
  const noted = items.findLast((item) => String(item["output"]).includes("noted step "));
  const step = noted ? parseNumberAfter("noted step ", String(noted["output"])) + 1 : 1;
  if (step > goal) return [{ say: `Reached ${goal}.` }];
  if (items.at(-1)?.["type"] === "code_interpreter_call") {
    return [
      { call: { name: "charge", args: { step } } },
      { call: { name: "note", args: { step } } },
    ];
  }
  return [{ code: `print("step ${step}", file=open("/mnt/data/work/steps.txt", "a"))` }];
}

function parseNumberAfter(words: string, text: string): number {
  const start = text.indexOf(words);
  return start === -1 ? 0 : Number.parseInt(text.slice(start + words.length), 10);
}
