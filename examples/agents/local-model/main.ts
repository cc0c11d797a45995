/** Answers questions about a file with your own model server; Python runs in a sandbox on your machine. */
// needs: pyodide
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { parseArgs } from "node:util";
import {
  Budget,
  Deadline,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
} from "weakincentives";
import { LocalProvider, upstreamModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";

const USAGE = `Usage: node main.ts                                           sample file, stand-in server
       node main.ts --live [--base-url URL] [--model NAME] [--context TOKENS] [FILE [QUESTION]]
The defaults are Ollama's: http://localhost:11434/v1, qwen3 and 32768. MODEL_SERVER_KEY is the server's key.`;

const { live, baseURL, model, context, given, question } = await readArguments();
const interrupt = new AbortController();
process.once("SIGINT", () => interrupt.abort(new Error("Interrupted.")));

// Replaces Ollama, vLLM or llama.cpp without `--live`: calls Python, then repeats the printed text.
const standIn = createServer(async (request, response) => {
  const { messages } = (await json(request)) as { messages: { role: string; content: string }[] };
  const result = messages.findLast(({ role }) => role === "tool")?.content;
  const code = `rows = [line.split(",") for line in open("/mnt/data/sales.csv").read().split()[1:]]
print(max(rows, key=lambda row: int(row[1]))[0])`;
  const python = { name: "python", arguments: JSON.stringify({ code }) };
  const message = result
    ? { role: "assistant", content: `The best day was ${result.trim()}.` }
    : { role: "assistant", tool_calls: [{ id: "call_1", type: "function", function: python }] };
  const usage = { prompt_tokens: 400, completion_tokens: 50, total_tokens: 450 };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
});

const sample = await mkdtemp(join(tmpdir(), "local-model-"));
const apiKey = process.env["MODEL_SERVER_KEY"];
let provider: LocalProvider | null = null;
try {
  await writeFile(join(sample, "sales.csv"), "day,loaves\nMon,12\nTue,30\nWed,24\n");
  const url = live ? baseURL : await listen();
  provider = new LocalProvider({
    model: upstreamModel({ baseURL: url, model, ...(apiKey !== undefined && { apiKey }) }),
    // "auto" accepts bubblewrap, Podman and Docker only, because a real model's code is not yours.
    sandbox: live ? "auto" : "wasm",
  });
  await answer(provider, given ?? join(sample, "sales.csv"));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof PromptEvaluationError && error.partial.text)
    console.error(`The model's last message: ${error.partial.text}`);
  process.exitCode = interrupt.signal.aborted ? 130 : 1;
} finally {
  await provider?.close();
  standIn.close();
  await rm(sample, { recursive: true });
}

async function answer({ fetch }: LocalProvider, hostPath: string): Promise<void> {
  const session = new Session();
  session.bus.subscribe("ToolInvoked", ({ name, result }) =>
    console.log(`${name}: ${result.message.trim()}`),
  );
  const workspace = new OpenAIContainerWorkspaceSection({
    session,
    mounts: [{ hostPath, maxBytes: 50_000_000 }],
    allowedHostRoots: [hostPath],
  });
  try {
    // The rest is the same agent as on OpenAI, with the same hosted tools.
    const adapter = new OpenAIAdapter({
      model,
      hostedTools: { codeInterpreter: true },
      clientConfig: { fetch },
      compaction: { thresholdTokens: Math.floor(context * 0.6) }, // leaves room for an answer
      throttle: { maxAttempts: 2 }, // a server on this machine is there or not
    });
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: `Answer the question with Python, from /mnt/data/${basename(hostPath).replaceAll("$", "$$$$")}. Compute, do not
guess. Then answer in one sentence.`,
    });
    const template = new PromptTemplate({ ns: "files", key: "ask", sections: [task, workspace] });
    const { text, usage } = await adapter.evaluate(new Prompt(template), {
      session,
      input: question,
      maxTurns: 20,
      budget: new Budget({ maxTotalTokens: 200_000 }),
      deadline: Deadline.after(20 * 60_000),
      signal: interrupt.signal,
    });
    console.log(text);
    if (live) console.log(`${usage.inputTokens} tokens in, ${usage.outputTokens} out`);
  } finally {
    await workspace.cleanup();
  }
}

async function listen(): Promise<string> {
  await new Promise<void>((listening) => standIn.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(standIn.address() as AddressInfo).port}/v1`;
}

async function readArguments() {
  const options = {
    live: { type: "boolean", default: false },
    "base-url": { type: "string", default: "http://localhost:11434/v1" },
    model: { type: "string", default: "qwen3" },
    context: { type: "string", default: "32768" },
  } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [path, question = "Which day was best?", ...rest] = positionals;
    if (rest.length > 0) throw new Error("Put the question in quotes.");
    if (path && !values.live) throw new Error("Add --live to ask about your own file.");
    if (path && !(await stat(path)).isFile()) throw new Error(`${path} is not a file.`);
    if (!/^[1-9]\d{3,7}$/.test(values.context))
      throw new Error("--context takes a number of tokens.");
    const given = path === undefined ? undefined : resolve(path);
    return {
      ...values,
      baseURL: values["base-url"],
      context: Number(values.context),
      given,
      question,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
// prints: code_interpreter: Tue
// prints: The best day was Tue.
