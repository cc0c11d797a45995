import { styleText } from "node:util";
import { LocalProvider } from "../local/provider.ts";
import { endOnSignal, type Stoppable, TemporaryFolder } from "./ending.ts";
import { quickSandbox, type SandboxName } from "./quick-sandbox.ts";
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
  const choosing = quickSandbox(options.sandbox);
  let provider: LocalProvider | null = null;
  const end = async () => {
    await choosing.catch(() => {}); // it is on its way out, whatever it found
    await provider?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  };
  const signals = endOnSignal(end, { code: 0, host });
  try {
    const { web, apiKey, json, port } = options;
    const [{ model, name }, { sandbox, reason }] = await Promise.all([
      servedModel(options.model),
      choosing,
    ]);
    const dataDir = folder?.path ?? options.dataDir;
    provider = new LocalProvider({ model, sandbox, dataDir, web, apiKey });
    const { url } = await provider.listen({ port, host: options.host });
    if (json) console.log(JSON.stringify({ url, sandbox: sandbox.name, model: name }));
    else
      for (const line of greeting({ ...options, url, name, sandbox: sandbox.name, reason }))
        console.log(line);
  } catch (error) {
    signals[Symbol.dispose]();
    await end();
    throw error;
  }
}

interface Served {
  readonly url: string;
  readonly sandbox: string;
  /** Why that sandbox. */
  readonly reason: string;
  /** Of the model. */
  readonly name: string;
  readonly dataDir?: string | undefined;
  readonly web?: string | undefined;
  readonly apiKey?: string | undefined;
}

function* greeting({ url, sandbox, reason, name, ...served }: Served): Generator<string> {
  const { dataDir, web, apiKey } = served;
  const key = apiKey === undefined ? "local" : "YOUR_KEY";
  yield `${bold("OpenAI's API on this machine:")} ${url}\n`;
  yield `  sandbox  ${sandbox}`;
  yield `           (${reason})`;
  yield `  model    ${name === ECHO ? "an echo of what it is told (--model or --upstream: another)" : name}`;
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
