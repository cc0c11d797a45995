import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

/** The steps over which the cost is averaged: around step 35 and around step 374 of 400. */
const MARKS = [10, 60, 349, 399] as const;

/** Starts the OpenAI stand-in in another process, so that its cost is not counted. */
export async function startStub(): Promise<Disposable & { readonly origin: string }> {
  const child: ChildProcess = fork(new URL("./peers/server/stub.mjs", import.meta.url));
  const [{ port }] = await once(child, "message");
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}

/** Runs one loop of 400 requests over a socket. Returns the CPU time of an early and of a late step in microseconds. */
export async function measureOpenAILoop(
  origin: string,
): Promise<{ readonly early: number; readonly late: number }> {
  const spent: number[] = [];
  let calls = 0;
  const add = new Tool({
    name: "add",
    description: "Adds two numbers.",
    params: z.object({ a: z.number(), b: z.number() }),
    handler: ({ a, b }) => {
      calls += 1;
      if (MARKS.some((mark) => mark === calls)) {
        const { user, system } = process.cpuUsage();
        spent.push(user + system);
      }
      return ToolResult.ok(null, String(a + b));
    },
  });
  const section = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Add.",
    tools: [add],
  });
  const prompt = new Prompt(
    new PromptTemplate({ ns: "bench", key: "openai", sections: [section] }),
  );
  const adapter = new OpenAIAdapter({
    model: "gpt-5.2",
    modelConfig: { store: false },
    clientConfig: { apiKey: "sk-stub", baseURL: `${origin}/weakincentives/long400/v1` },
  });
  await adapter.evaluate(prompt, { session: new Session(), maxTurns: 500 });
  const [a = 0, b = 0, c = 0, d = 0] = spent;
  if (calls !== 399 || spent.length !== MARKS.length) throw new Error(`${calls} calls were made`);
  return { early: (b - a) / (MARKS[1] - MARKS[0]), late: (d - c) / (MARKS[3] - MARKS[2]) };
}
