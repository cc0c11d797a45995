import { describe, expect, test } from "vitest";
import { ApiProblem } from "../../api-problem.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { createRequestCheck } from "./request.ts";
import { createToolValidator } from "./tools.ts";

const checkRequest = createRequestCheck(builtInCatalog);
const tool = createToolValidator(builtInCatalog);

const checkTool = (value: unknown) => tool(value, "tools[0]");

const network = (policy: object) => ({
  type: "code_interpreter",
  container: { type: "auto", network_policy: policy },
});
const search = (more: object) => ({ type: "file_search", vector_store_ids: ["vs_1"], ...more });
const shell = (environment: object) => ({ type: "shell", environment });
const files = (count: number) => Array.from({ length: count }, (_, at) => `file-${at}`);

describe("the tool validator accepts", () => {
  test.each([
    { type: "function", name: "look", parameters: null, strict: null, description: null },
    { type: "function", name: "look", parameters: { type: "object" }, strict: false },
    { type: "custom", name: "run", format: { type: "grammar", syntax: "lark", definition: "x" } },
    { type: "web_search", filters: { allowed_domains: ["a.b"], blocked_domains: ["c.d"] } },
    { type: "web_search", user_location: { type: "approximate", country: null, city: "Bern" } },
    { type: "web_search_2025_08_26", return_token_budget: "unlimited" },
    { type: "web_search_preview", search_context_size: "low" },
    search({ filters: { type: "eq", key: "a", value: true }, max_num_results: 50 }),
    search({ filters: { type: "in", key: "a", value: ["b", 2] } }),
    search({
      filters: { type: "or", filters: [{ type: "gt", key: "a", value: 1 }] },
      ranking_options: { ranker: "auto", score_threshold: 0.5 },
    }),
    { type: "code_interpreter", container: "cntr_1" },
    { type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } },
    network({ type: "allowlist", allowed_domains: ["a.b"] }),
    { type: "shell" },
    { type: "shell", environment: null },
    shell({ type: "container_auto", file_ids: files(50), memory_limit: null }),
    shell({ type: "container_auto", skills: [{ type: "skill_reference", skill_id: "s" }] }),
    shell({ type: "container_reference", container_id: "cntr_1" }),
    shell({ type: "local", skills: [{ name: "a", description: "b", path: "c" }] }),
    { type: "local_shell" },
    { type: "apply_patch", allowed_callers: ["direct"] },
    { type: "mcp", server_label: "a", server_url: "https://a.b", require_approval: "never" },
    { type: "mcp", server_label: "a", connector_id: "c", allowed_tools: ["x"] },
    { type: "mcp", server_label: "a", server_url: "b", allowed_tools: { read_only: true } },
    { type: "image_generation", partial_images: 3, input_fidelity: null },
    { type: "computer" },
    { type: "computer_use_preview", display_width: 1, display_height: 1, environment: "mac" },
    {
      type: "namespace",
      name: "n",
      description: "d",
      tools: [{ type: "function", name: "inner" }],
    },
    { type: "tool_search", execution: "client" },
    { type: "programmatic_tool_calling" },
  ])("%j", (value) => {
    expect(checkTool(value)).toBeNull();
  });
});

describe("the tool validator rejects", () => {
  test.each<readonly [tool: unknown, param: string, code: string]>([
    [5, "", "invalid_type"],
    [{}, ".type", "missing_required_parameter"],
    [{ type: 5 }, ".type", "invalid_type"],
    [{ type: "function" }, ".name", "missing_required_parameter"],
    [{ type: "function", name: "a b" }, ".name", "invalid_value"],
    [{ type: "function", name: "" }, ".name", "empty_string"],
    [{ type: "function", name: "a".repeat(65) }, ".name", "string_above_max_length"],
    [{ type: "function", function: { name: "a" } }, ".function", "unknown_parameter"],
    [{ type: "function", name: "a", parameters: "{}" }, ".parameters", "invalid_type"],
    [{ type: "web_search", name: "search" }, ".name", "unknown_parameter"],
    [{ type: "web_search", filters: { domains: [] } }, ".filters.domains", "unknown_parameter"],
    [
      { type: "web_search", user_location: { type: "exact" } },
      ".user_location.type",
      "invalid_value",
    ],
    [{ type: "web_search_preview", filters: {} }, ".filters", "unknown_parameter"],
    [{ type: "file_search" }, ".vector_store_ids", "missing_required_parameter"],
    [{ type: "file_search", vector_store_ids: [] }, ".vector_store_ids", "empty_array"],
    [search({ max_num_results: 0 }), ".max_num_results", "integer_below_min_value"],
    [search({ max_num_results: 51 }), ".max_num_results", "integer_above_max_value"],
    [search({ filters: { type: "like" } }), ".filters.type", "invalid_value"],
    [search({ filters: { type: "eq", key: "a", value: {} } }), ".filters.value", "invalid_type"],
    [
      search({ filters: { type: "in", key: "a", value: [true] } }),
      ".filters.value[0]",
      "invalid_type",
    ],
    [
      search({ filters: { type: "and", filters: [{ type: "eq", key: "a" }] } }),
      ".filters.filters[0].value",
      "missing_required_parameter",
    ],
    [
      search({ ranking_options: { score_threshold: 2 } }),
      ".ranking_options.score_threshold",
      "decimal_above_max_value",
    ],
    [search({ ranking_options: { weight: 2 } }), ".ranking_options.weight", "unknown_parameter"],
    [network({ type: "open" }), ".container.network_policy.type", "invalid_value"],
    [
      network({ type: "allowlist" }),
      ".container.network_policy.allowed_domains",
      "missing_required_parameter",
    ],
    [network({ type: "disabled", why: 1 }), ".container.network_policy.why", "unknown_parameter"],
    [{ type: "code_interpreter", container: 5 }, ".container", "invalid_type"],
    [shell({ type: "docker" }), ".environment.type", "invalid_value"],
    [
      shell({ type: "container_reference" }),
      ".environment.container_id",
      "missing_required_parameter",
    ],
    [
      shell({ type: "container_auto", file_ids: files(51) }),
      ".environment.file_ids",
      "array_above_max_length",
    ],
    [{ type: "mcp", server_url: "a" }, ".server_label", "missing_required_parameter"],
    [{ type: "mcp", server_label: "a" }, ".server_url", "missing_required_parameter"],
    [
      { type: "namespace", name: "n", description: "d", tools: [{ type: "shell" }] },
      ".tools[0].type",
      "invalid_value",
    ],
    [{ type: "image_generation", partial_images: 4 }, ".partial_images", "integer_above_max_value"],
  ])("%j", (value, param, code) => {
    expect(checkTool(value)).toMatchObject({ status: 400, param: `tools[0]${param}`, code });
  });

  test("deeply nested filters, without a stack overflow", () => {
    let filters: object = { type: "eq", key: "a", value: 1 };
    for (let depth = 0; depth < 5000; depth++) filters = { type: "and", filters: [filters] };
    expect(checkTool(search({ filters }))?.code).toBe("invalid_value");
  });
});

describe("a field of the specifications that OpenAI does not have", () => {
  const knownTools =
    "'function', 'file_search', 'computer', 'computer_use_preview', 'web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11', 'mcp', 'code_interpreter', 'programmatic_tool_calling', 'image_generation', 'local_shell', 'shell', 'custom', 'namespace', 'tool_search', and 'apply_patch'";

  test.each<readonly [body: object, param: string, message: string]>([
    [
      { tools: [{ type: "built_in", name: "web_search" }] },
      "tools[0].type",
      `Invalid value: 'built_in'. Supported values are: ${knownTools}.`,
    ],
    [
      { tools: [{ type: "code_interpreter" }] },
      "tools[0].container",
      "Missing required parameter: 'tools[0].container'.",
    ],
    [
      { tools: [{ type: "code_interpreter", container: { id: "cntr_1", memory_limit: "4g" } }] },
      "tools[0].container.type",
      "Missing required parameter: 'tools[0].container.type'.",
    ],
    [
      { tools: [{ type: "code_interpreter", container: { type: "auto", memory_limit: "8g" } }] },
      "tools[0].container.memory_limit",
      "Invalid value: '8g'. Supported values are: '1g', '4g', '16g', and '64g'.",
    ],
    [
      { tools: [{ type: "code_interpreter", container: { type: "auto", host_mounts: [] } }] },
      "tools[0].container.host_mounts",
      "Unknown parameter: 'tools[0].container.host_mounts'.",
    ],
    [
      { tools: [{ type: "code_interpreter", container: { type: "auto", files: [] } }] },
      "tools[0].container.files",
      "Unknown parameter: 'tools[0].container.files'.",
    ],
    [
      { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: files(51) } }] },
      "tools[0].container.file_ids",
      "Invalid 'tools[0].container.file_ids': array too long. Expected an array with maximum length 50, but got an array with length 51 instead.",
    ],
    [
      { tool_choice: { type: "built_in", name: "web_search" } },
      "tool_choice.type",
      "Invalid value: 'built_in'. Supported values are: 'function', 'custom', 'mcp', 'file_search', 'web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11', 'computer', 'computer_use', 'computer_use_preview', 'code_interpreter', 'image_generation', 'apply_patch', 'shell', 'local_shell', 'programmatic_tool_calling', and 'allowed_tools'.",
    ],
    [{ messages: [] }, "messages", "Unknown parameter: 'messages'."],
  ])("%j is rejected", (body, param, message) => {
    const check = () => checkRequest({ model: "m", input: "a", ...body });
    expect(check).toThrow(ApiProblem);
    expect(check).toThrow(expect.objectContaining({ status: 400, param, message }));
  });
});
