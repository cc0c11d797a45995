import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../../src/base/freeze.ts";
import { readNumber, readString } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  findItemProblems,
  findRequestProblems,
  findResponseProblems,
  findToolProblems,
} from "../support/openapi.ts";
import {
  applyPatchCall,
  codeInterpreterCall,
  containerFileCitation,
  fileCitation,
  fileSearchCall,
  functionCall,
  imageGenerationCall,
  mcpApprovalRequest,
  mcpCall,
  mcpListTools,
  message,
  reasoning,
  refusal,
  shellCall,
  shellCallOutput,
  startWireServer,
  urlCitation,
  webSearchCall,
} from "../support/wire-server.ts";

const { WINK_SHARED: shared = "" } = process.env;

describe.skipIf(shared === "")("validation with OpenAI's OpenAPI document", () => {
  const createAutoContainer = (more: object) => ({
    type: "code_interpreter",
    container: { type: "auto", ...more },
  });

  test.each([
    ["the type built_in", { type: "built_in", name: "web_search" }, "type must be equal to one of"],
    ["no type", { name: "web_search" }, "it must have required property 'type'"],
    ["no container", { type: "code_interpreter" }, "must have required property 'container'"],
    [
      "a container by its parts",
      { type: "code_interpreter", container: { id: "cntr_1", memory_limit: "1g" } },
      "container must have required property 'type'",
    ],
    [
      "an unknown memory tier",
      createAutoContainer({ memory_limit: "8g" }),
      "container.memory_limit must be",
    ],
    [
      "51 files",
      createAutoContainer({ file_ids: Array.from({ length: 51 }, (_, at) => `file_${at}`) }),
      "container.file_ids must NOT have more than 50 items",
    ],
    [
      "host mounts",
      createAutoContainer({ host_mounts: [] }),
      "container must NOT have additional properties",
    ],
    [
      "an odd network policy",
      createAutoContainer({ network_policy: { type: "disabled", allowed_domains: [] } }),
      "container.network_policy must NOT have additional properties: allowed_domains",
    ],
    [
      "an odd environment",
      { type: "shell", environment: { type: "local", container_id: "cntr_1" } },
      "environment must NOT have additional properties: container_id",
    ],
    [
      "an odd place",
      { type: "web_search", user_location: { type: "approximate", street: "Elm" } },
      "user_location must NOT have additional properties: street",
    ],
    [
      "an odd ranking",
      { type: "file_search", vector_store_ids: ["vs_1"], ranking_options: { order: "up" } },
      "ranking_options must NOT have additional properties: order",
    ],
    [
      "too many results",
      { type: "file_search", vector_store_ids: ["vs_1"], max_num_results: 51 },
      "max_num_results must be <= 50",
    ],
    [
      "a filter within a filter",
      {
        type: "file_search",
        vector_store_ids: ["vs_1"],
        filters: { type: "and", filters: [{ type: "or", filters: [{ type: "like" }] }] },
      },
      "filters.filters[0].filters[0]",
    ],
    ["a name", { type: "apply_patch", name: "patch" }, "must NOT have additional properties: name"],
  ])("rejects a tool with %s", (_what, tool, problem) => {
    expect(findToolProblems(tool)?.join("\n")).toContain(problem);
    expect(findRequestProblems("POST", "/responses", { model: "m", tools: [tool] })).not.toEqual(
      [],
    );
  });

  test.each([
    ["/responses", { foo: 1 }, "it must NOT have additional properties: foo"],
    ["/responses", { messages: [] }, "it must NOT have additional properties: messages"],
    ["/responses", { include: ["bogus"] }, "include[0] must be equal to one of"],
    ["/responses", { tool_choice: { type: "built_in", name: "x" } }, "tool_choice.type must be"],
    ["/responses", { tool_choice: { type: "function", name: "x", y: 1 } }, "tool_choice must NOT"],
    ["/responses", { reasoning: { efort: "low" } }, "reasoning must NOT have"],
    ["/responses", { text: { format: { type: "text", name: "x" } } }, "text.format must NOT have"],
    [
      "/responses",
      { context_management: [{ type: "compaction", compact_threshold: 999 }] },
      "context_management[0].compact_threshold must be >= 1000",
    ],
    ["/responses", { input: [{ type: "function_call", name: "x" }] }, "input[0] must have"],
    ["/responses/compact", { messages: [] }, "it must NOT have additional properties: messages"],
    ["/responses/input_tokens", { store: false }, "it must NOT have additional properties: store"],
    ["/containers", { name: "x", host_mounts: [] }, "it must NOT have additional properties"],
    ["/containers", {}, "it must have required property 'name'"],
  ])("rejects a request to %s with %o", (path, body, problem) => {
    const whole = path === "/containers" ? body : { model: "m", ...body };
    expect(findRequestProblems("POST", path, whole)?.join("\n")).toContain(problem);
  });

  test("rejects unknown routes", () => {
    expect(findRequestProblems("PUT", "/responses", {})).toHaveLength(1);
    expect(findRequestProblems("POST", "/chat", {})).toHaveLength(1);
    expect(findResponseProblems("GET /chat", {})).toHaveLength(1);
  });

  test.each([
    { type: "web_search", filters: { blocked_domains: ["example.com"] } },
    { type: "web_search", return_token_budget: "unlimited", search_content_types: ["image"] },
    { type: "image_generation", output_format: "svg" },
    createAutoContainer({ memory_limit: "64g", network_policy: { type: "disabled" } }),
    { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } },
    { type: "function", name: "f", parameters: { any: { thing: 1 } }, strict: true },
  ])("accepts the tool %o", (tool) => {
    expect(findToolProblems(tool)).toEqual([]);
  });

  test("accepts unknown keys in items, and does not check forms", () => {
    expect(findItemProblems({ role: "user", content: "Hello.", brand: "new" })).toEqual([]);
    expect(findRequestProblems("POST", "/files", undefined)).toEqual([]);
    expect(findRequestProblems("POST", "/containers/cntr_1/files", undefined)).toEqual([]);
    expect(findRequestProblems("POST", "/containers/cntr_1/files", { file_id: 1 })).not.toEqual([]);
    expect(findRequestProblems("GET", "/containers/cntr_1", undefined)).toEqual([]);
  });

  test("makes a wire server report requests that OpenAI would reject", async () => {
    const server = await startWireServer([[message("Hello.")]]);
    const body = JSON.stringify({ model: "m", tools: [createAutoContainer({ host_mounts: [] })] });
    await fetch(`${server.url}/responses`, { method: "POST", body });
    await expect(server.close()).rejects.toThrow(
      "request 1, POST /responses: tools[0].container must NOT have additional properties: host_mounts",
    );
  });

  test("accepts a wire server's responses", async () => {
    const file = { file_id: "file_1", filename: "owls.txt", score: 0.5, text: "Owl" };
    const citations = [
      urlCitation("https://owls.example", "Owls"),
      fileCitation("file_1", "owls.txt"),
      containerFileCitation("cfile_1", "owls.png"),
    ];
    const output = [
      reasoning(),
      webSearchCall("owls", ["https://owls.example"]),
      fileSearchCall(["owls"], [file]),
      codeInterpreterCall("print(1)", ["1\n", { type: "image", url: "https://owls.example/1" }]),
      shellCall(["ls"], "cntr_1"),
      shellCallOutput([{ stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } }]),
      shellCall(["ls"]),
      applyPatchCall({ type: "delete_file", path: "owls.txt" }),
      mcpListTools(["look"]),
      mcpCall("look", { at: "owls" }, "Owls."),
      mcpApprovalRequest("look", {}),
      imageGenerationCall("aGk="),
      functionCall("add", { a: 1 }),
      refusal("No."),
      message("Owls.", citations),
    ];
    const failed = { output: [], error: { code: "server_error", message: "No." }, usage: null };
    const cut = { output: [], incomplete_details: { reason: "max_output_tokens" } };
    await using server = await startWireServer([output, output, failed, cut]);
    for (const include of [
      [],
      ["code_interpreter_call.outputs", "file_search_call.results"],
      [],
      [],
    ]) {
      const body = JSON.stringify({ model: "m", input: "Hello.", include });
      const response = await fetch(`${server.url}/responses`, { method: "POST", body });
      expect(findResponseProblems("/responses", await response.json())).toEqual([]);
    }
  });
});

/** Requests that the provider accepted although its document, even with the overlay, forbids them. */
const sloppy = new Map([
  ["langchain/test_code_interpreter.yaml.gz#2", "a replayed code call without its outputs"],
  ["chatlas/test_openai_web_search.yaml#1", "a replayed search whose sources are null"],
  ["mirascope/test_web_search_tool.openai_gpt_4o_responses.yaml#1", "the same"],
  ["mirascope/test_web_search_tool_stream.openai_gpt_4o_responses.yaml#1", "the same"],
  ["openai-dotnet/ImageGenToolInputMaskWithFileIdAsync.json#2", "an image without its detail"],
  ["ellmer/openai-v2-web-search.yml#1", "output_text without a type on its message"],
  ["ellmer/openai-v2-web-search.yml#2", "the same"],
  ["openai-dotnet/CanCompactConversation.json#1", "output_text without its annotations"],
  ["openai-dotnet/CanCompactConversationAsync.json#1", "the same"],
]);

describe.skipIf(shared === "")("OpenAI's recorded exchanges", () => {
  const real = shared === "" ? [] : readRecordings().filter(isProven);

  test("all requests are valid, except the known ones", () => {
    const refused = real.filter(
      ({ path, request }) => request && findRequestProblems("POST", path, request)?.length !== 0,
    );
    const counts = judged.map((at) => real.filter(({ path, request }) => path === at && request));
    expect(counts.map(({ length }) => length)).toEqual([203, 7, 2]);
    expect(refused.map(({ id }) => id).sort()).toEqual([...sloppy.keys()].sort());
  });

  test("all responses are valid", () => {
    const responses = real.flatMap(({ path, response }) =>
      path === "/responses" && response ? [response] : [],
    );
    expect(responses).toHaveLength(177);
    expect(responses.flatMap((one) => findResponseProblems("/responses", one))).toEqual([]);
  });
});

const judged = ["/responses", "/responses/compact", "/containers"];

interface Recording {
  readonly id: string;
  /** Relative to `/v1`. */
  readonly path: string;
  readonly request: object | null;
  readonly response: object | null;
  readonly status: number | null;
  /** The evidence that it is real, or `"unproven"`. */
  readonly real: string;
}

function isProven({ path, real, status }: Recording): boolean {
  return judged.includes(path) && status === 200 && real !== "unproven";
}

/** Reads the recordings of POST requests. */
function readRecordings(): readonly Recording[] {
  const lines = readFileSync(join(shared, "recorded/dev.jsonl"), "utf8").trim().split("\n");
  const records: readonly WireItem[] = lines.map((line) => JSON.parse(line));
  return records
    .filter(({ method }) => method === "POST")
    .map((record) => ({
      id: readString(record, "id"),
      path: `/${readString(record, "url").replace(/^https:.*?\/v1\/|\?.*$/g, "")}`,
      request: getObject(record, "request"),
      response: getObject(record, "response"),
      status: readNumber(record, "status"),
      real: readString(record, "real"),
    }));
}

function getObject(record: WireItem, key: string): object | null {
  const value = record[key];
  return isPlainObject(value) ? value : null;
}
