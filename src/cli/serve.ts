import { styleText } from "node:util";
import { unmountBelow } from "../local/containers/disks/unmount-below.ts";
import { isTrustedModel } from "../local/models/trusted-models.ts";
import { LocalProvider } from "../local/provider.ts";
import type { LocalProviderOptions } from "../local/provider-options.ts";
import { dockerSandbox } from "../local/sandbox/docker/docker-sandbox.ts";
import type { Sandbox } from "../local/sandbox/sandbox.ts";
import { sweepTemporaryDataDirs, TemporaryDataDir } from "../local/store/temporary-data-dir.ts";
import { endOnSignal, runAtExit, type Stoppable } from "./end-on-signal.ts";
import { type FoundSandbox, findSandbox, type SandboxName } from "./find-sandbox.ts";
import { ECHO, loadModel, type ModelChoice } from "./load-model.ts";
import { RequestPrinter } from "./request-printer.ts";
import { toFlagError } from "./to-flag-error.ts";

/** Options of `wink serve`. */
export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  /** Folder for all data. @default a temporary folder that is deleted at the end */
  readonly dataDir?: string | undefined;
  readonly sandbox: SandboxName;
  /** Image for Podman or Docker. @default python:3.13-slim */
  readonly sandboxImage?: string | undefined;
  readonly model: ModelChoice;
  readonly web?: string | undefined;
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
  const folder = options.dataDir === undefined ? createDataDir() : null;
  let provider: LocalProvider | null = null;
  let isEnding = false;
  const end = async () => {
    isEnding = true;
    await provider?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  };
  const signals = endOnSignal(end, { code: 0, host });
  try {
    const { web, apiKey, port } = options;
    const sandbox = createSandbox(options);
    const { model, name } = await loadModel(options.model);
    const dataDir = folder?.path ?? options.dataDir;
    const onRequest = createRequestListener(options);
    provider = new LocalProvider({
      ...{ model, sandbox, dataDir, web, apiKey, onRequest },
      allowedHosts: options.allowHost,
      allowedOrigins: options.allowOrigin,
    });
    const author = isTrustedModel(model) ? "user" : "model";
    const chosen = await findSandbox(sandbox, undefined, author);
    const { url } = await provider.listen({ port, host: options.host }); // the first line follows at once
    if (!isEnding) printServer(options, { url, model: name, sandbox: chosen });
  } catch (error) {
    if (isEnding) return; // a signal ended the process first; later errors do not matter
    signals[Symbol.dispose]();
    await end();
    throw toFlagError(error);
  }
}

function createSandbox({ sandbox, sandboxImage: image }: ServeOptions): SandboxName | Sandbox {
  if (sandbox !== "docker" && sandbox !== "podman") return sandbox;
  return dockerSandbox({ engine: sandbox, image });
}

/** Creates a temporary data folder that is removed on disposal, or at the latest when the process exits. */
function createDataDir(): Disposable & { readonly path: string } {
  void sweepTemporaryDataDirs(unmountBelow);
  const folder = new TemporaryDataDir();
  const removal = runAtExit(() => {
    try {
      folder[Symbol.dispose]();
    } catch {
      // A container's disk is still in use. The next start removes the folder.
    }
  });
  return { path: folder.path, [Symbol.dispose]: () => removal[Symbol.dispose]() };
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
