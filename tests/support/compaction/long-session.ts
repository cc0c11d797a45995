import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { listen } from "../../../src/local/http/listen.ts";
import { hostSandbox } from "../host-sandbox.ts";
import type { ProgressLine } from "./long-session-main.ts";

type Item = Readonly<Record<string, unknown>>;

/** One request, as received by the server. */
export interface StepRequest {
  /** `"/responses"`, `"/responses/compact"`, … */
  readonly path: string;
  readonly bytes: number;
  readonly items: number;
  readonly status: number;
  /** Calls without an output and outputs without a call. */
  readonly orphans: number;
}

/** Starts a provider whose model takes one step after another, with Python before some of them. */
export async function startStepProvider(onStep: (step: number) => void = () => {}) {
  const provider = new LocalProvider({
    sandbox: hostSandbox(),
    model: scriptedModel(({ items }) => chooseActions(items as readonly Item[], onStep)),
  });
  const requests: StepRequest[] = [];
  const listening = await listen(async (request) => {
    const body = await request.text();
    const { method, headers, url } = request;
    const response = await provider.fetch(url, { method, headers, ...(body && { body }) });
    const items: readonly Item[] = body === "" ? [] : JSON.parse(body).input;
    requests.push({
      path: new URL(url).pathname.replace("/v1", ""),
      bytes: body.length,
      items: items.length,
      status: response.status,
      orphans: countOrphans(items),
    });
    return response;
  }, {});
  onTestFinished(async () => {
    await listening.close();
    await provider[Symbol.asyncDispose]();
  });
  return { url: listening.url, requests };
}

/** Spawns a process that continues the session on that provider, and reads its output. */
export function spawnStepProcess(url: string, directory: string, steps: number) {
  const script = fileURLToPath(new URL("./long-session-main.ts", import.meta.url));
  const args = ["--expose-gc", script, url, directory, "long", String(steps)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let failed = "";
  child.stderr?.on("data", (text) => {
    failed += text;
  });
  const lines = (async () => {
    const all: ProgressLine[] = [];
    if (!child.stdout) return all;
    for await (const line of createInterface({ input: child.stdout })) all.push(JSON.parse(line));
    return all;
  })();
  return { child, ended: lines.then((all) => ({ lines: all, failed })) };
}

/** Returns the step after the last one in the history. The highest goal counts. */
function chooseActions(items: readonly Item[], onStep: (step: number) => void) {
  const texts = items.filter(({ role }) => role === "system").map(({ content }) => String(content));
  const goal = Math.max(...texts.map((text) => parseNumberAfter("up to step ", text)));
  const noted = items.findLast(({ type }) => type === "function_call_output");
  const step = noted ? parseNumberAfter("noted step ", String(noted["output"])) + 1 : 1;
  if (step > goal) return [{ say: `Reached ${goal}.` }];
  onStep(step);
  const hasRun = items.at(-1)?.["type"] === "code_interpreter_call";
  return step % 100 === 7 && !hasRun
    ? [{ code: `print(sum(range(${step})))` }]
    : [{ call: { name: "note", args: { step } } }];
}

function parseNumberAfter(words: string, text: string): number {
  const start = text.indexOf(words);
  if (start === -1) throw new Error(`There is no "${words}" in ${text}`);
  return Number.parseInt(text.slice(start + words.length), 10);
}

function countOrphans(items: readonly Item[]): number {
  const readCallIds = (type: string) =>
    new Set(items.filter((item) => item["type"] === type).map((item) => item["call_id"]));
  const [calls, outputs] = [readCallIds("function_call"), readCallIds("function_call_output")];
  const countMissing = (some: ReadonlySet<unknown>, others: ReadonlySet<unknown>) =>
    [...some].filter((id) => !others.has(id)).length;
  return countMissing(calls, outputs) + countMissing(outputs, calls);
}
