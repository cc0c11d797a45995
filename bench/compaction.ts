/**
 * Measures the cost of compaction: the CPU time of evaluations with compaction enabled but not needed,
 * relative to evaluations without it, and the extra requests of an evaluation that needs it.
 */
import { MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import * as z from "zod";
import { startStub } from "./peers/start-stub.ts";
import { compareSides, createValue } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const PAIRS = countRounds(1_500);
/** Pairs that run first to warm up the compiler; not counted. */
const WARMING = 150;
/** Text that exceeds the threshold. */
const LONG = 1_000;

const prompt = new Prompt(
  new PromptTemplate({
    ns: "bench",
    key: "compaction",
    sections: [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Add.",
        tools: [
          new Tool({
            name: "add",
            description: "Adds two numbers.",
            params: z.object({ a: z.number(), b: z.number() }),
            handler: ({ a, b }) =>
              ToolResult.ok(null, `${a + b}${a === LONG ? " or so".repeat(2_000) : ""}`),
          }),
        ],
      }),
    ],
  }),
);

const idle = {
  what: "an evaluation with compaction that it does not need to one without, CPU",
  unit: "µs",
  goal: 1.02,
} as const;
const added = await measureTriggered();
printResult({
  figures: [
    compareSides(idle, await measureIdle()),
    createValue(
      { what: `requests that one compaction adds: ${added.join(", ")}`, unit: "", goal: 2 },
      added.length,
    ),
  ],
});

/** Alternates the two sides, so that other load affects both. */
async function measureIdle() {
  using stub = await startStub();
  const adapterWith = (compaction: OpenAIAdapterOptions["compaction"]) =>
    new OpenAIAdapter({
      model: "gpt-5.2",
      modelConfig: { store: false },
      clientConfig: { apiKey: "sk-stub", baseURL: `${stub.origin}/weakincentives/parallel/v1` },
      compaction,
    });
  const [bare, compacting] = [adapterWith(null), adapterWith({})];
  const pairs = [];
  for (let pair = -WARMING; pair < PAIRS; pair++) {
    const first = pair % 2 === 0 ? await measureCpu(compacting) : null;
    const reference = await measureCpu(bare);
    const ours = first ?? (await measureCpu(compacting));
    if (pair >= 0) pairs.push({ ours, reference });
  }
  return pairs;
}

/** CPU time in microseconds. */
async function measureCpu(adapter: OpenAIAdapter): Promise<number> {
  const before = process.cpuUsage();
  await adapter.evaluate(prompt, { session: new Session(), maxTurns: 100 });
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The extra requests of an evaluation that compacts once. */
async function measureTriggered(): Promise<readonly string[]> {
  const countRequests = async (compaction: OpenAIAdapterOptions["compaction"]) => {
    let calls = 0;
    const model = scriptedModel(() =>
      calls++ < 8
        ? [{ call: { name: "add", args: { a: calls === 4 ? LONG : calls, b: 1 } } }]
        : [{ say: "Added." }],
    );
    await using provider = new LocalProvider({ model });
    const paths: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      paths.push(new URL(String(input)).pathname.replace("/v1", ""));
      return provider.fetch(input, init);
    };
    const adapter = new OpenAIAdapter({ model: "local", clientConfig: { fetch }, compaction });
    await adapter.evaluate(prompt, { session: new Session(), maxTurns: 100 });
    return paths;
  };
  const [plain, compacted] = [
    await countRequests(null),
    await countRequests({ thresholdTokens: 2_000 }),
  ];
  const isTurn = (path: string) => path === "/responses";
  const added = compacted.filter(isTurn).slice(plain.length);
  return [...added, ...compacted.filter((path) => !isTurn(path))];
}
