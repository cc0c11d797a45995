import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  codeInterpreterTool,
  definePrompt,
  type EvaluateOptions,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, type ModelScript, scriptedModel } from "weakincentives/local";
import {
  OpenAIAdapter,
  type OpenAIAdapterOptions,
  OpenAIContainerWorkspaceSection,
} from "weakincentives/openai";
import { cassette, fakeClock, recordingBus } from "weakincentives/testing";
import * as z from "zod";
import {
  createCassetteFolder,
  type Fetch,
  noNetwork,
} from "./support/cassette/cassette-fixture.ts";
import { testKey } from "./support/openai-clients.ts";
import { hasBubblewrap } from "./support/workspace/workspace-fixture.ts";

/** Runs an agent while it is recorded against a local provider, then again with the provider stopped. */
async function recordAndReplay<Result>(
  script: ModelScript,
  run: (fetch: Fetch, baseURL: string) => Promise<Result>,
  again: typeof run = run,
) {
  const path = join(createCassetteFolder(), "run.jsonl");
  const provider = new LocalProvider({ model: scriptedModel(script) });
  const { url } = await provider.listen();
  const tape = cassette(path, { mode: "record" });
  const recorded = await run(tape.fetch, url).finally(() => provider.close());
  await tape.close();
  const replay = cassette(path, { fetch: noNetwork });
  const replayed = await again(replay.fetch, url);
  await replay.close();
  return { path, recorded, replayed, text: readFileSync(path, "utf8") };
}

const countLoaves = (description = "Counts loaves.", left = 3) =>
  new Tool({
    name: "count_loaves",
    description,
    params: z.object({ kind: z.string() }),
    handler: ({ kind }) => ToolResult.ok({ kind, left }),
  });

const baker = ({ instructions = "Plan the baking.\nBe brief.", tool = countLoaves() } = {}) =>
  definePrompt({
    name: "bakery:baker",
    instructions,
    tools: [tool],
    hostedTools: [codeInterpreterTool()],
  });

/** Events without the ones, and without the fields, that depend on the time and on random ids. */
function describeEvents(bus: ReturnType<typeof recordingBus>): string {
  const events = bus.events.filter(({ type }) => type !== "TurnProgressed"); // of a slow machine
  return JSON.stringify(events, (key, value: unknown) =>
    /^(?:at|createdAt|durationMs|elapsedMs|sessionId|evaluationId|callKey)$/.test(key)
      ? null
      : value,
  );
}

interface BakerOptions extends Partial<OpenAIAdapterOptions> {
  readonly prompt?: ReturnType<typeof baker>;
  readonly evaluate?: EvaluateOptions;
}

/** Returns a run of the baker with its response and events. */
function runBaker({ prompt = baker(), evaluate = {}, ...options }: BakerOptions = {}) {
  return async (fetch: Fetch, baseURL: string) => {
    const bus = recordingBus();
    const session = new Session({ bus });
    const clientConfig = { baseURL, apiKey: testKey, fetch };
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig, ...options });
    const response = await adapter.evaluate(prompt, { session, input: "Rye?", ...evaluate });
    return { response, events: describeEvents(bus) };
  };
}

const script: ModelScript = [
  [{ think: "Count first." }, { call: { name: "count_loaves", args: { kind: "rye" } } }],
  [{ code: "print(6 * 7)" }],
  [{ say: "Bake 12 loaves. äöü" }],
];

describe("a run that was recorded against the local provider", () => {
  test.skipIf(!hasBubblewrap)(
    "gives the same response and events without it: a stream with tools and hosted tools",
    async () => {
      const { recorded, replayed, text } = await recordAndReplay(script, runBaker());
      expect(replayed).toEqual(recorded);
      expect(recorded.response).toMatchObject({
        text: "Bake 12 loaves. äöü",
        hostedCalls: [{ name: "code_interpreter" }],
      });
      expect(text).not.toContain(testKey);
      expect(text).not.toContain("authorization");
    },
  );

  test.skipIf(!hasBubblewrap).each(["buffered", "background"] as const)(
    "gives the same response and events with %s delivery",
    async (delivery) => {
      const run = runBaker({ delivery });
      const { recorded, replayed } = await recordAndReplay(script, run);
      expect(replayed).toEqual(recorded);
    },
  );

  test("replays throttled requests and their retries", async () => {
    const throttled: ModelScript = [
      [{ fail: { status: 429 } }],
      [{ fail: { status: 500 } }],
      [{ say: "Yes." }],
    ];
    const run = (fetch: Fetch, url: string) =>
      runBaker({ clock: fakeClock({ skipsSleep: true }) })(fetch, url);
    const { recorded, replayed, text } = await recordAndReplay(throttled, run);
    expect(replayed.response).toEqual(recorded.response);
    expect(recorded.response.text).toBe("Yes.");
    expect(text).toContain('"status":429');
  });

  test.skipIf(!hasBubblewrap)(
    "replays a container workspace: uploads, changes, and files for the sync",
    async () => {
      const folder = createCassetteFolder();
      mkdirSync(join(folder, "repository"));
      writeFileSync(join(folder, "repository", "a.txt"), "one");
      const runs = ["out1", "out2"];
      const run = async (fetch: Fetch, baseURL: string) => {
        const session = new Session(); // its random id is the container's name
        const syncDestination = join(folder, runs.shift() ?? "");
        const workspace = new OpenAIContainerWorkspaceSection({
          session,
          mounts: [{ hostPath: join(folder, "repository"), mountPath: "p" }],
          allowedHostRoots: [folder],
          syncPolicy: "eachTurn",
          syncDestination,
          deleteOnCleanup: true,
        });
        const clientConfig = { baseURL, apiKey: testKey, fetch };
        const hostedTools = { codeInterpreter: true } as const;
        const adapter = new OpenAIAdapter({ model: "gpt-5.2", hostedTools, clientConfig });
        const prompt = new Prompt(
          new PromptTemplate({ ns: "tests", key: "files", sections: [workspace] }),
        );
        const response = await adapter
          .evaluate(prompt, { session })
          .finally(() => workspace.cleanup());
        // The hashes of requests cover the container's name.
        const requests = response.egress.requests.map(({ sha256: _, ...request }) => request);
        return {
          response: { ...response, egress: { ...response.egress, requests } },
          files: ["p/a.txt", "p/new.txt"].map((name) =>
            readFileSync(join(syncDestination, name), "utf8"),
          ),
        };
      };
      const write =
        "open('/mnt/data/p/new.txt', 'w').write('new')\nopen('/mnt/data/p/a.txt', 'a').write(' two')";
      const { recorded, replayed } = await recordAndReplay(
        [[{ code: write }], [{ say: "Done." }]],
        run,
      );
      expect(recorded.files).toEqual(["one two", "new"]);
      expect(replayed).toEqual(recorded);
    },
  );

  test("replays compaction", async () => {
    const turns: ModelScript = Array.from({ length: 6 }, (_, index) =>
      index < 5
        ? [{ call: { name: "count_loaves", args: { kind: `kind ${index} ${"x".repeat(2_000)}` } } }]
        : [{ say: "Done." }],
    );
    const run = runBaker({ compaction: { thresholdTokens: 1_500, strategy: "endpoint" } });
    const { recorded, replayed, text } = await recordAndReplay(turns, run);
    expect(replayed).toEqual(recorded);
    expect(text).toContain('"path":"/v1/responses/compact"');
  });

  test("replays the official client, buffered and streamed, with an upload and a download", async () => {
    const run = async (fetch: Fetch, baseURL: string) => {
      const client = new OpenAI({ apiKey: testKey, baseURL, fetch, maxRetries: 0 });
      const file = await client.files.create({
        purpose: "user_data",
        file: new File(["a\0b"], "a.bin"),
      });
      const content = await (await client.files.content(file.id)).text();
      const answer = await client.responses.create({ model: "m", input: "Hi." });
      const events: string[] = [];
      for await (const event of await client.responses.create({
        model: "m",
        input: "Hi.",
        stream: true,
      }))
        events.push(event.type);
      return { file, content, text: answer.output_text, events };
    };
    const { recorded, replayed, text } = await recordAndReplay(
      [[{ say: "One." }], [{ say: "Two." }]],
      run,
    );
    expect(replayed).toEqual(recorded);
    expect(recorded).toMatchObject({ content: "a\0b", text: "One." });
    expect(text).not.toContain(testKey);
  });
});

describe("a changed agent", () => {
  const short: ModelScript = [
    [{ call: { name: "count_loaves", args: { kind: "rye" } } }],
    [{ say: "Bake 12." }],
  ];

  test("fails at the first request with the changed lines of the prompt, and is not retried", async () => {
    const changed = runBaker({ prompt: baker({ instructions: "Plan the roasting.\nBe brief." }) });
    await expect(recordAndReplay(short, runBaker(), changed)).rejects.toThrow(
      /^POST \/responses failed: Request 1 \(POST \/v1\/responses\) differs from exchange 1 of \S+ at input\[0\]\.content:\n\n[\s\S]*\n {2}-Plan the baking\.\n {2}\+Plan the roasting\.\n {3}Be brief\.[\s\S]*record the run again with mode: "record"\.$/,
    );
  });

  test("fails at the tool whose description or result changed", async () => {
    const described = baker({ tool: countLoaves("Counts all loaves.") });
    await expect(
      recordAndReplay(short, runBaker(), runBaker({ prompt: described })),
    ).rejects.toThrow(
      /Request 1 .*tools\[\d\]\.description:\n\n {2}- Counts loaves\.\n {2}\+ Counts all loaves\.\n/s,
    );
    const other = countLoaves("Counts loaves.", 4);
    await expect(
      recordAndReplay(short, runBaker(), runBaker({ prompt: baker({ tool: other }) })),
    ).rejects.toThrow(
      /Request 2 .* at input\[\d\]\.output:\n\n[^\\]*"left":3}\n {2}\+{"kind":"rye","left":4}\n\nIf/,
    );
  });

  test("fails if it stops early", async () => {
    await expect(recordAndReplay(short, runBaker(), async () => ({}) as never)).rejects.toThrow(
      /^2 of 2 recorded requests of \S+ were not sent:\n {2}1\. POST \/v1\/responses\n/,
    );
  });
});

test("replaying needs no key, and a missing cassette is a clear error", async () => {
  const path = join(createCassetteFolder(), "missing.jsonl");
  const tape = cassette(path);
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { fetch: tape.fetch } });
  await expect(adapter.evaluate(baker(), { input: "Rye?" })).rejects.toThrow(
    `The cassette ${path} does not exist. Record it with mode: "record"`,
  );
  expect(existsSync(path)).toBe(false);
});

test("wink replay --test turns a recorded run of an adapter into a test that passes", async () => {
  const { path } = await recordAndReplay([[{ say: "Bake 12." }]], async (fetch, baseURL) => {
    const clientConfig = { baseURL, apiKey: testKey, fetch };
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
    const prompt = definePrompt({ name: "baker", instructions: "Plan." });
    return await adapter.evaluate(prompt, { input: "Rye?" });
  });
  const agent = join(path, "../agent.mts");
  writeFileSync(
    agent,
    `import { definePrompt } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";

export default async (fetch: typeof globalThis.fetch) => {
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { fetch } });
  const prompt = definePrompt({ name: "baker", instructions: "Plan." });
  return await adapter.evaluate(prompt, { input: "Rye?" });
};
`,
  );
  const hooks = new URL("support/cli/resolve-sources.mjs", import.meta.url).href;
  const { NODE_TEST_CONTEXT: _, OPENAI_BASE_URL: __, ...env } = process.env;
  const runNode = (...args: readonly string[]) =>
    spawnSync(process.execPath, args, { encoding: "utf8", env });
  const main = new URL("../src/cli/main.ts", import.meta.url).pathname;
  const written = runNode(main, "replay", "--test", path, "--agent", agent);
  expect(written).toMatchObject({ status: 0, stderr: "" });
  const passed = runNode("--import", hooks, "--test", join(path, "../run.test.mjs"));
  expect(passed.stdout + passed.stderr).toMatch(/pass 1\b/);
  const printed = runNode(main, "replay", path, "--json");
  expect(JSON.parse(printed.stdout)).toMatchObject({
    answer: "Bake 12.",
    turns: [{ model: "gpt-5.2" }],
  });
});
