/**
 * Measures the cost of compaction: the CPU time of evaluations with compaction enabled but not needed,
 * relative to evaluations without it, and the extra requests of an evaluation that needs it. Run
 * `npm run build` first.
 */
import { MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, type OpenAIAdapterOptions } from "weakincentives/openai";
import * as z from "zod";
import { median } from "./median.ts";
import { startStub } from "./openai-loop.ts";

const PAIRS = 1_500;
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

const { bare, compacting } = await measureIdle();
const ratio = compacting / bare;
const extra = await measureTriggered();

console.log(`Node ${process.version}, medians of ${PAIRS} evaluations each\n`);
console.log("| what | measured | ratio | target |\n| --- | --- | ---: | ---: |");
console.log(
  `| an evaluation with compaction that it does not need to one without, CPU | ${compacting.toFixed(0)} µs to ${bare.toFixed(0)} µs | ${ratio.toFixed(3)}x | 1.02x |`,
);
console.log(
  `| requests that one compaction adds | ${extra.join(", ")} | | input_tokens, compact |`,
);
const isJustThat = extra.join() === "/responses/input_tokens,/responses/compact";
process.exitCode = ratio <= 1.02 && isJustThat ? 0 : 1;

/** Alternates the two sides, so that other load affects both, and takes medians to ignore garbage collection. */
async function measureIdle(): Promise<{ readonly bare: number; readonly compacting: number }> {
  using stub = await startStub();
  const adapterWith = (compaction: OpenAIAdapterOptions["compaction"]) =>
    new OpenAIAdapter({
      model: "gpt-5.2",
      modelConfig: { store: false },
      clientConfig: { apiKey: "sk-stub", baseURL: `${stub.origin}/weakincentives/parallel/v1` },
      compaction,
    });
  const sides = [adapterWith(null), adapterWith({})].map((adapter) => ({
    adapter,
    costs: [] as number[],
  }));
  for (let pair = -WARMING; pair < PAIRS; pair++) {
    for (const { adapter, costs } of pair % 2 === 0 ? sides : sides.toReversed()) {
      const cost = await measureCpu(adapter);
      if (pair >= 0) costs.push(cost);
    }
  }
  const [bare = Number.NaN, compacting = Number.NaN] = sides.map(({ costs }) => median(costs));
  return { bare, compacting };
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
