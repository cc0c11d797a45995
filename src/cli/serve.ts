import { styleText } from "node:util";
import { LocalProvider } from "../local/provider.ts";
import { endOnSignal, type Stoppable, TemporaryFolder } from "./ending.ts";
import { type FoundSandbox, findSandbox, type SandboxName } from "./find-sandbox.ts";
import { inFlags } from "./flags.ts";
import { ECHO, type ModelChoice, servedModel } from "./served-model.ts";

/** What `wink serve` was told. */
export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  /** @default a temporary folder, which goes when the command ends */
  readonly dataDir?: string | undefined;
  readonly sandbox: SandboxName;
  readonly model: ModelChoice;
  readonly web?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly json: boolean;
}

/** Starts a local provider, says where it is, and leaves it running until a signal ends the process. */
export async function serve(options: ServeOptions, host: Stoppable = process): Promise<void> {
  const folder = options.dataDir === undefined ? new TemporaryFolder("wink-serve-") : null;
  let provider: LocalProvider | null = null;
  let isEnding = false;
  const end = async () => {
    isEnding = true;
    await provider?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  };
  const signals = endOnSignal(end, { code: 0, host });
  try {
    const { sandbox, web, apiKey, port } = options;
    const { model, name } = await servedModel(options.model);
    const dataDir = folder?.path ?? options.dataDir;
    provider = new LocalProvider({ model, sandbox, dataDir, web, apiKey });
    const { url } = await provider.listen({ port, host: options.host });
    const chosen = await findSandbox(sandbox);
    if (!isEnding) tell(options, { url, model: name, sandbox: chosen });
  } catch (error) {
    if (isEnding) return; // a signal came first, and what then fails is nobody's concern
    signals[Symbol.dispose]();
    await end();
    throw inFlags(error);
  }
}

interface Served {
  readonly url: string;
  readonly model: string;
  readonly sandbox: FoundSandbox;
}

function tell(options: ServeOptions, served: Served): void {
  const { url, model, sandbox } = served;
  if (options.json) console.log(JSON.stringify({ url, sandbox: sandbox.name, model }));
  else for (const line of greeting(options, served)) console.log(line);
}

function* greeting(
  { dataDir, web, apiKey }: ServeOptions,
  { url, model, sandbox }: Served,
): Generator<string> {
  const key = apiKey === undefined ? "local" : "YOUR_KEY";
  yield `${bold("OpenAI's API on this machine:")} ${url}\n`;
  yield `  sandbox  ${sandbox.name ?? "none: requests to run code fail until you install one"}`;
  yield `           (${sandbox.reason})`;
  yield `  model    ${model === ECHO ? "an echo of what it is told (--model or --upstream: another)" : model}`;
  yield `  web      ${web ?? "no pages (--web: a folder of them)"}`;
  yield `  kept in  ${dataDir ?? "a temporary folder, which goes at the end (--data-dir: one that stays)"}`;
  yield `\n${bold("Point an SDK at it, in node or python")}\n`;
  yield `  OPENAI_BASE_URL=${url} OPENAI_API_KEY=${key} node agent.js`;
  yield `  new OpenAI({ baseURL: "${url}", apiKey: "${key}" })`;
  yield `  new OpenAIAdapter({ model: "any", clientConfig: { baseURL: "${url}", apiKey: "${key}" } })`;
  yield "\nCtrl-C ends it.";
}

// `styleText` leaves colour out by itself when the stream is no terminal, or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
