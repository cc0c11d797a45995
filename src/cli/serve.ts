import { styleText } from "node:util";
import type { LocalProviderOptions } from "../local/provider-options.ts";
import { endOnSignal, type Stoppable } from "./end-on-signal.ts";
import type { FoundSandbox } from "./find-sandbox.ts";
import { ECHO } from "./load-model.ts";
import { type OpenedProvider, openProvider } from "./open-provider.ts";
import { ProgressLine } from "./progress-line.ts";
import type { ProviderChoice } from "./provider-choice.ts";
import { RequestPrinter } from "./request-printer.ts";
import { toFlagError } from "./to-flag-error.ts";

/** Options of `wink serve`. */
export interface ServeOptions extends ProviderChoice {
  readonly port: number;
  readonly host: string;
  readonly apiKey?: string | undefined;
  /** Host names that clients may use without a key, in addition to `localhost`. */
  readonly allowHost?: readonly string[] | undefined;
  /** Web pages that may send requests without a key. */
  readonly allowOrigin?: readonly string[] | undefined;
  readonly json: boolean;
  /** Whether to print no line per request. */
  readonly quiet: boolean;
}

/** Starts a local provider, prints its URL and each request, and runs until a signal ends the process. */
export async function serve(options: ServeOptions, host: Stoppable = process): Promise<void> {
  const progress = new ProgressLine(process.stderr);
  let opening: Promise<OpenedProvider> | null = null;
  let isEnding = false;
  const end = async () => {
    isEnding = true;
    progress.clear();
    const opened = await opening?.catch(() => null);
    await opened?.[Symbol.asyncDispose]();
  };
  const signals = endOnSignal(end, { code: 0, host });
  try {
    progress.show("Starting the local provider …");
    opening = openProvider(options, {
      apiKey: options.apiKey,
      onRequest: createRequestListener(options),
      allowedHosts: options.allowHost,
      allowedOrigins: options.allowOrigin,
    });
    const opened = await opening;
    const sandbox = await opened.findSandbox();
    const { port, host: address } = options;
    const { url } = await opened.provider.listen({ port, host: address }); // the first line follows at once
    progress.clear();
    if (!isEnding) printServer(options, { url, model: opened.modelName, sandbox });
  } catch (error) {
    if (isEnding) return; // a signal ended the process first; later errors do not matter
    signals[Symbol.dispose]();
    await end();
    throw toFlagError(error);
  }
}

function createRequestListener({ json, quiet }: ServeOptions): LocalProviderOptions["onRequest"] {
  if (quiet) return undefined;
  const printer = new RequestPrinter(process.stdout, { json });
  return (entry) => printer.print(entry);
}

interface ServerInfo {
  readonly url: string;
  readonly model: string;
  readonly sandbox: FoundSandbox;
}

function printServer(options: ServeOptions, served: ServerInfo): void {
  const { url, model, sandbox } = served;
  if (options.json) console.log(JSON.stringify({ url, sandbox: sandbox.name, model }));
  else for (const line of formatServer(options, served)) console.log(line);
}

function* formatServer(
  { dataDir, web, apiKey }: ServeOptions,
  { url, model, sandbox }: ServerInfo,
): Generator<string> {
  const key = apiKey === undefined ? "local" : "YOUR_KEY";
  yield `${bold("OpenAI API running locally:")} ${url}\n`;
  yield `  sandbox  ${sandbox.name ?? "none: requests that run code fail until you install one"}`;
  yield `           (${sandbox.reason})`;
  yield `  model    ${model === ECHO ? "an echo (use --model or --upstream for another)" : model}`;
  yield `  web      ${web ?? "no pages (use --web FOLDER)"}`;
  yield `  data     ${dataDir ?? "a temporary folder that is deleted at the end (use --data-dir to keep it)"}`;
  yield `\n${bold("Connect an SDK from Node.js or Python")}\n`;
  yield `  OPENAI_BASE_URL=${url} OPENAI_API_KEY=${key} node agent.js`;
  yield `  new OpenAI({ baseURL: "${url}", apiKey: "${key}" })`;
  yield `  new OpenAIAdapter({ model: "any", clientConfig: { baseURL: "${url}", apiKey: "${key}" } })`;
  yield `  ANTHROPIC_BASE_URL=${url.replace(/\/v1$/, "")} ANTHROPIC_API_KEY=${key} node agent.js`;
  yield "\nIt serves OpenAI's Responses API and chat completions, and Anthropic's Messages API.";
  yield "Press Ctrl-C to stop.";
}

// `styleText` omits colors if the stream is not a terminal or NO_COLOR is set.
const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
