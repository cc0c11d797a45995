import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  applyPatchTool,
  codeInterpreterTool,
  fileSearchTool,
  type HostedTool,
  imageGenerationTool,
  mcpTool,
  type PromptEvaluationError,
  type PromptResponse,
  Session,
  shellTool,
  webSearchTool,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { OpenAIAdapter, type OpenAIModelConfig } from "weakincentives/openai";
import { fakeClock, recordingBus } from "weakincentives/testing";
import { testKey } from "../support/openai-clients.ts";
import { createTaskPrompt } from "../support/openai-run.ts";
import { message, startWireServer, type WireAnswer } from "../support/wire-server.ts";

type Json = Readonly<Record<string, unknown>>;

interface Exchange {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly response: unknown;
  readonly events: readonly Json[] | null;
}

const shared = process.env["WINK_SHARED"] ?? "";
const exchanges = readFileSync(join(shared, "recorded/dev.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Exchange => JSON.parse(line));

/** Returns the provider's response: the body, or the last event of a stream. */
function getResponse({ response, events }: Exchange): Json | null {
  const ends = (events ?? []).filter((event) => "response" in event && isEnd(event));
  const answer = events?.length ? ends.at(-1)?.["response"] : response;
  return typeof answer === "object" ? (answer as Json) : null;
}

function isEnd({ type, data }: Json): boolean {
  const name = String(type ?? Object(data).type);
  return ["response.completed", "response.incomplete", "response.failed"].includes(name);
}

const turns = exchanges
  .filter(({ method, url }) => method === "POST" && /\/?responses(?:\?.*)?$/.test(url))
  .map((exchange) => ({ exchange, id: exchange.id, answer: getResponse(exchange) }));
const answered = turns.filter(
  ({ answer, exchange }) => exchange.status === 200 && Array.isArray(answer?.["output"]),
);
const refused = turns.filter(({ exchange }) => exchange.status >= 400);

test("all recorded exchanges are covered", () => {
  expect(answered.length + refused.length).toBeGreaterThan(200);
  const others = turns.filter((turn) => !answered.includes(turn) && !refused.includes(turn));
  // A stream recorded without its end.
  const endless = ["vercel-ai/parallel-tool-call-wrapper.1.chunks.txt#0"];
  expect(others.map(({ id }) => id)).toEqual(endless);
});

function getOutput(answer: Json | null): readonly Json[] {
  return (answer?.["output"] ?? []) as readonly Json[];
}

/** Creates the tools that the items need. */
function createTools(items: readonly Json[]): readonly HostedTool[] {
  const types = new Set(items.map(({ type }) => type));
  const labels = new Set(
    items.flatMap(({ server_label: label }) => (label ? [String(label)] : [])),
  );
  const runsThere = types.has("shell_call_output");
  const executor = {
    run: async (commands: readonly string[]) =>
      commands.map(() => ({
        stdout: "",
        stderr: "",
        outcome: { type: "exit" as const, exitCode: 0 },
      })),
  };
  const shell = runsThere
    ? shellTool()
    : shellTool({ environment: { type: "local" } }, { executor });
  return [
    webSearchTool(),
    fileSearchTool({ vectorStoreIds: ["vs_1"] }),
    codeInterpreterTool(),
    imageGenerationTool(),
    shell,
    applyPatchTool({}, { filesystem: new InMemoryFilesystem() }),
    ...[...labels].map((serverLabel, index) =>
      mcpTool({ serverLabel, serverUrl: "https://mcp.example" }, { name: `mcp_${index}` }),
    ),
  ];
}

/** Evaluates until the recorded response was read and sent back. */
async function replay(answer: Json, modelConfig: OpenAIModelConfig = {}) {
  const items = getOutput(answer);
  const raw = JSON.stringify(answer);
  const recorded: WireAnswer = {
    raw: (_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(raw);
    },
  };
  await using server = await startWireServer([recorded, [message("Noted.")]], {
    leftOver: "allowed",
  });
  const bus = recordingBus();
  const session = new Session({ bus });
  const adapter = new OpenAIAdapter({
    model: "recorded",
    modelConfig,
    clientConfig: { apiKey: testKey, baseURL: server.url },
    clock: fakeClock({ skipsSleep: true }),
    throttle: { maxAttempts: 1 },
  });
  const prompt = createTaskPrompt({ hostedTools: createTools(items) });
  let error: PromptEvaluationError | null = null;
  let response: PromptResponse<string> | null = null;
  try {
    response = await adapter.evaluate(prompt, { session });
  } catch (thrown) {
    error = thrown as PromptEvaluationError;
  }
  // A response without calls is sent back with the next evaluation.
  if (!error && server.requests.length === 1) {
    await adapter.evaluate(prompt, { session, continue: true });
  }
  return { error, response, bus, second: server.requests[1] };
}

/** Calls to tools that the prompt does not have: they get no output, so they are not sent back. */
const foreign = ["custom_tool_call", "computer_call", "local_shell_call"];

const hostedTypes = [
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
];

const citing = ["url_citation", "file_citation", "container_file_citation", "file_path"];

/** Counts from the raw JSON, without using codecs or readers. */
function countContent(items: readonly Json[]) {
  const parts = items
    .filter(({ type }) => type === "message")
    .flatMap(({ content }) => (Array.isArray(content) ? (content as readonly Json[]) : []));
  const notes = parts.flatMap(({ annotations }) =>
    Array.isArray(annotations) ? (annotations as readonly Json[]) : [],
  );
  const hasOutput = items.some(({ type }) => type === "shell_call_output");
  const isHosted = (type: unknown) =>
    hostedTypes.includes(String(type)) || (type === "shell_call" && hasOutput);
  return {
    functions: items.filter(
      ({ type, status }) => type === "function_call" && status !== "incomplete",
    ).length,
    hosted: items.filter(({ type }) => isHosted(type)).length,
    citations: notes.filter(({ type }) => citing.includes(String(type))).length,
    text: parts.map(({ text }) => (typeof text === "string" ? text : "")).join(""),
  };
}

describe("a recorded response is read, counted and sent back unchanged:", () => {
  test.each(answered.map(({ id, answer }) => [id, answer] as const))("%s", async (_id, answer) => {
    const items = getOutput(answer);
    const { error, response, bus, second } = await replay(answer ?? {});
    const status = answer?.["status"];
    if (status !== "completed" && status !== "incomplete") {
      expect(error).toMatchObject({ name: expect.stringMatching(/Error$/) });
      return;
    }
    const counted = countContent(items);
    const isCutOff = status === "incomplete" && counted.text === "" && counted.functions === 0;
    if (isCutOff || items.length === 0) {
      expect(error).toMatchObject({ phase: "response" });
      return;
    }
    expect(error).toBeNull();
    const [turn] = bus.of("TurnCompleted");
    expect(turn?.toolCalls).toHaveLength(counted.functions);
    expect(turn?.hostedCalls).toHaveLength(counted.hosted);
    expect(turn?.text).toContain(counted.text);
    expect(response?.citations).toHaveLength(counted.citations);

    const body = second?.text ?? "";
    const left = items.filter((item) => !body.includes(JSON.stringify(item)));
    const dropped = bus.of("HistoryRepaired").flatMap((event) => event.dropped);
    expect(left.map(({ type }) => type)).toEqual(dropped.map(({ type }) => type));
    const isForeign = items.some(({ type }) => foreign.includes(String(type)));
    const isTorn = status === "incomplete" || items.at(-1)?.["type"] === "reasoning";
    if (!isForeign && !isTorn) expect(left).toEqual([]);
  });
});

test("every recorded response can be sent back with store: false, without unencrypted reasoning", async () => {
  for (const { answer, id } of answered) {
    const { error, second, bus } = await replay(answer ?? {}, { store: false });
    if (error) continue; // the same failures as above
    const input = Object(JSON.parse(second?.text ?? "{}")).input as readonly Json[];
    const unsealed = input.filter(
      ({ type, encrypted_content: sealed }) => type === "reasoning" && !sealed,
    );
    expect(unsealed, id).toEqual([]);
    const dropped = bus.of("HistoryRepaired").flatMap((event) => event.dropped);
    const sent = getOutput(answer).length - dropped.length;
    expect(input.filter(({ type }) => type !== undefined).length, id).toBeGreaterThan(sent);
  }
});

describe("a recorded error is reported with the provider's message:", () => {
  test.each(refused.map(({ id, exchange }) => [id, exchange] as const))(
    "%s",
    async (_id, { status, response }) => {
      const answer: WireAnswer = { json: response, status };
      await using server = await startWireServer([answer], { leftOver: "allowed" });
      const adapter = new OpenAIAdapter({
        model: "recorded",
        clientConfig: { apiKey: testKey, baseURL: server.url },
        throttle: { maxAttempts: 1 },
      });
      const failed = adapter.evaluate(createTaskPrompt(), { session: new Session() });
      const { message: said = String(status) } = Object(Object(response).error ?? response);
      await expect(failed).rejects.toMatchObject({
        phase: "request",
        message: expect.stringContaining(String(said).replace(/\.$/, "").slice(0, 60)),
        cause: { name: "OpenAIRequestError", status },
      });
      expect(server.requests).toHaveLength(1);
    },
  );
});
