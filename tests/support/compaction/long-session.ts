import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { listen } from "../../../src/local/http/listen.ts";
import { hostSandbox } from "../host-sandbox.ts";
import type { Said } from "./long-session-main.ts";

type Item = Readonly<Record<string, unknown>>;

/** What one request was, as it came over the socket. */
export interface Asked {
  /** `"/responses"`, `"/responses/compact"`, … */
  readonly path: string;
  readonly bytes: number;
  readonly items: number;
  readonly status: number;
  /** Calls without an output and outputs without a call. */
  readonly orphans: number;
}

/** A provider whose model takes one step after the other, with Python before some of them. */
export async function steppingProvider(onStep: (step: number) => void = () => {}) {
  const provider = new LocalProvider({
    sandbox: hostSandbox(),
    model: scriptedModel(({ items }) => nextActions(items as readonly Item[], onStep)),
  });
  const asked: Asked[] = [];
  const listening = await listen(async (request) => {
    const body = await request.text();
    const { method, headers, url } = request;
    const response = await provider.fetch(url, { method, headers, ...(body && { body }) });
    const items: readonly Item[] = body === "" ? [] : JSON.parse(body).input;
    asked.push({
      path: new URL(url).pathname.replace("/v1", ""),
      bytes: body.length,
      items: items.length,
      status: response.status,
      orphans: orphansIn(items),
    });
    return response;
  }, {});
  onTestFinished(async () => {
    await listening.close();
    await provider[Symbol.asyncDispose]();
  });
  return { url: listening.url, asked };
}

/** A process that goes on with a session on that provider, and hears what it says. */
export function takingSteps(url: string, directory: string, steps: number) {
  const script = fileURLToPath(new URL("./long-session-main.ts", import.meta.url));
  const args = ["--expose-gc", script, url, directory, "long", String(steps)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let failed = "";
  child.stderr?.on("data", (text) => {
    failed += text;
  });
  const said = (async () => {
    const all: Said[] = [];
    if (!child.stdout) return all;
    for await (const line of createInterface({ input: child.stdout })) all.push(JSON.parse(line));
    return all;
  })();
  return { child, ended: said.then((all) => ({ said: all, failed })) };
}

/** The next step after the last one that it can read of; the farthest goal is the one that counts. */
function nextActions(items: readonly Item[], onStep: (step: number) => void) {
  const texts = items.filter(({ role }) => role === "system").map(({ content }) => String(content));
  const goal = Math.max(...texts.map((text) => numberAfter("up to step ", text)));
  const noted = items.findLast(({ type }) => type === "function_call_output");
  const step = noted ? numberAfter("noted step ", String(noted["output"])) + 1 : 1;
  if (step > goal) return [{ say: `Reached ${goal}.` }];
  onStep(step);
  const hasRun = items.at(-1)?.["type"] === "code_interpreter_call";
  return step % 100 === 7 && !hasRun
    ? [{ code: `print(sum(range(${step})))` }]
    : [{ call: { name: "note", args: { step } } }];
}

function numberAfter(words: string, text: string): number {
  const start = text.indexOf(words);
  if (start === -1) throw new Error(`There is no "${words}" in ${text}`);
  return Number.parseInt(text.slice(start + words.length), 10);
}

function orphansIn(items: readonly Item[]): number {
  const ids = (type: string) =>
    new Set(items.filter((item) => item["type"] === type).map((item) => item["call_id"]));
  const [calls, outputs] = [ids("function_call"), ids("function_call_output")];
  const lacking = (some: ReadonlySet<unknown>, others: ReadonlySet<unknown>) =>
    [...some].filter((id) => !others.has(id)).length;
  return lacking(calls, outputs) + lacking(outputs, calls);
}
