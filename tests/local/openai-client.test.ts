import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  answerSchema,
  type HostedToolsFixture,
  startHostedToolsFixture,
} from "../support/local/hosted-tools-fixture.ts";

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Turn = (params: Params) => Promise<OpenAI.Responses.Response>;

function createParams({ storeId }: HostedToolsFixture): Params {
  return {
    model: "gpt-5.2",
    input: "How many owls?",
    tools: [
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "file_search", vector_store_ids: [storeId] },
      { type: "web_search" },
      {
        type: "function",
        name: "look",
        parameters: { type: "object", properties: { at: { type: "string" } } },
        strict: false,
      },
    ],
    text: { format: { type: "json_schema", name: "owls", schema: answerSchema, strict: true } },
    include: [
      "code_interpreter_call.outputs",
      "file_search_call.results",
      "web_search_call.action.sources",
      "reasoning.encrypted_content",
    ],
  };
}

describe("the official OpenAI client", () => {
  const ways: readonly (readonly [string, (client: OpenAI) => Turn])[] = [
    ["blocking", (client) => (params) => client.responses.create(params)],
    [
      "streaming",
      (client) => (params) => client.responses.stream({ ...params, stream: true }).finalResponse(),
    ],
  ];

  test.each(ways)("uses all tools (%s)", async (_name, turnOf) => {
    const on = await startHostedToolsFixture();
    const client = new OpenAI({ apiKey: "any", baseURL: on.url, fetch: on.fetch });
    const [turn, params] = [turnOf(client), createParams(on)];
    const first = await turn(params);
    expect(first.output.map(({ type }) => type)).toEqual([
      "reasoning",
      "code_interpreter_call",
      "file_search_call",
      "web_search_call",
      "web_search_call",
      "message",
      "function_call",
    ]);
    const [, code, files, web] = first.output;
    if (code?.type !== "code_interpreter_call") throw new Error("No code was run");
    expect(code.outputs).toEqual([{ type: "logs", logs: "42\n" }]);
    expect(files).toMatchObject({ results: [{ file_id: on.fileId, filename: "owls.md" }] });
    expect(web).toMatchObject({ action: { sources: [{ url: "https://owls.example/barn" }] } });
    const call = first.output.find((item) => item.type === "function_call");
    const second = await turn({
      ...params,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "Twelve." }],
    });
    expect(JSON.parse(second.output_text)).toEqual({ animal: "owl", count: 12 });
    const made: string[] = [];
    for await (const file of client.containers.files.list(code.container_id)) {
      const content = await client.containers.files.content.retrieve(file.id, {
        container_id: code.container_id,
      });
      made.push(`${file.path}: ${await content.text()}`);
    }
    expect(made).toEqual(["/mnt/data/owls.txt: 12"]);
  });
});
