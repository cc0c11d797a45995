import { isPlainObject } from "../../../base/freeze.ts";
import { missingParameter } from "../../api-problem.ts";
import {
  anyObject,
  anything,
  at,
  byType,
  decimal,
  either,
  flag,
  integer,
  list,
  map,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../../validators/shapes.ts";
import { codeContainer, shellEnvironment } from "./containers.ts";
import { strictly } from "./strict.ts";

/** The name of a function or a custom tool. */
export const toolName = text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ });

const type = anything; // it chose the shape
const allowed_callers = maybe(list(oneOf("direct", "programmatic"), { min: 1 }));
const search_context_size = maybe(oneOf("low", "medium", "high"));
const search_content_types = list(oneOf("text", "image"));
const domains = maybe(list(text({ min: 1 }), { max: 100 }));

const user_location = maybe(
  object(
    {},
    {
      type: oneOf("approximate"),
      country: maybe(text()),
      region: maybe(text()),
      city: maybe(text()),
      timezone: maybe(text()),
    },
  ),
);

const webSearch = object(
  { type },
  {
    external_web_access: maybe(flag),
    filters: maybe(object({}, { allowed_domains: domains, blocked_domains: domains })),
    search_context_size,
    user_location,
    return_token_budget: oneOf("default", "unlimited"),
    search_content_types,
    image_settings: object({}, { max_results: integer({ min: 1 }), caption: anything }),
  },
);

const webSearchPreview = object(
  { type },
  { search_context_size, search_content_types, user_location },
);

const comparison = object({
  type,
  key: text({ min: 1 }),
  value: (value, path) => {
    if (typeof value === "number" || typeof value === "boolean") return null;
    return textOrList(value, path);
  },
});

const textOrList = either({
  string: text(),
  array: list((value, path) => (typeof value === "number" ? null : text()(value, path))),
});

/** Filters within filters, to a depth that no stack minds. */
function filter(depth: number): Shape {
  const names = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"];
  const shapes = Object.fromEntries(names.map((name) => [name, comparison]));
  if (depth === 0) return byType(shapes);
  const compound = object({ type, filters: list(filter(depth - 1), { min: 1 }) });
  return byType({ ...shapes, and: compound, or: compound });
}

const attributeFilter = filter(16);

const fileSearch = object(
  { type, vector_store_ids: list(text({ min: 1 }), { min: 1 }) },
  {
    max_num_results: integer({ min: 1, max: 50 }),
    filters: maybe(attributeFilter),
    ranking_options: maybe(
      object(
        {},
        {
          ranker: oneOf("auto", "default-2024-11-15"),
          score_threshold: decimal({ min: 0, max: 1 }),
          hybrid_search: maybe(object({ embedding_weight: decimal(), text_weight: decimal() })),
        },
      ),
    ),
  },
);

const functionFields = object(
  { type, name: toolName },
  {
    parameters: maybe(anyObject),
    strict: maybe(flag),
    description: maybe(text()),
    defer_loading: flag,
    async: flag,
    output_schema: maybe(anyObject),
    allowed_callers,
  },
);

const functionTool = strictly(functionFields, {
  key: "parameters",
  of: "function",
  code: "invalid_function_parameters",
});

const customTool = object(
  { type, name: toolName },
  {
    description: text(),
    format: byType({
      text: object({ type }),
      grammar: object({ type, syntax: oneOf("lark", "regex"), definition: text() }),
    }),
    defer_loading: flag,
    async: flag,
    allowed_callers,
  },
);

const mcpFilter = object({}, { tool_names: list(text()), read_only: maybe(flag) });

const mcpFields = object(
  { type, server_label: text({ min: 1 }) },
  {
    server_url: text({ min: 1 }),
    connector_id: text({ min: 1 }),
    tunnel_id: text({ pattern: /^tunnel_[a-z0-9]{32}$/ }),
    authorization: text(),
    headers: maybe(map(text())),
    server_description: maybe(text()),
    allowed_tools: maybe(either({ array: list(text()), object: mcpFilter })),
    require_approval: maybe(
      either({
        string: oneOf("always", "never"),
        object: object({}, { always: maybe(mcpFilter), never: maybe(mcpFilter) }),
      }),
    ),
    defer_loading: flag,
    allowed_callers,
  },
);

const mcp: Shape = (value, path) => {
  const problem = mcpFields(value, path);
  const places = ["server_url", "connector_id", "tunnel_id"];
  if (problem || (isPlainObject(value) && places.some((key) => key in value))) return problem;
  return missingParameter(at(path, "server_url"));
};

const imageGeneration = object(
  { type },
  {
    action: oneOf("generate", "edit", "auto"),
    model: text(),
    quality: oneOf("low", "medium", "high", "xhigh", "max", "auto"),
    size: text(),
    output_format: oneOf("png", "webp", "jpeg", "gif", "svg"),
    output_compression: integer({ min: 0, max: 100 }),
    background: oneOf("transparent", "opaque", "auto"),
    input_fidelity: maybe(oneOf("high", "low")),
    input_image_mask: object({}, { file_id: text(), image_url: text() }),
    moderation: oneOf("auto", "low"),
    partial_images: integer({ min: 0, max: 3 }),
    svg: anyObject,
  },
);

const computerUsePreview = object({
  type,
  display_width: integer({ min: 1 }),
  display_height: integer({ min: 1 }),
  environment: oneOf("windows", "mac", "linux", "ubuntu", "browser"),
});

const bare = object({ type });

/** An entry of `tools`: every one that OpenAI knows, whether it runs here or not. */
export const tool: Shape = byType({
  function: functionTool,
  file_search: fileSearch,
  computer: bare,
  computer_use_preview: computerUsePreview,
  web_search: webSearch,
  web_search_2025_08_26: webSearch,
  web_search_preview: webSearchPreview,
  web_search_preview_2025_03_11: webSearchPreview,
  mcp,
  code_interpreter: object({ type, container: codeContainer }, { allowed_callers }),
  programmatic_tool_calling: bare,
  image_generation: imageGeneration,
  local_shell: bare,
  shell: object({ type }, { environment: maybe(shellEnvironment), allowed_callers }),
  custom: customTool,
  namespace: object({
    type,
    name: toolName,
    description: text(),
    tools: list(byType({ function: functionTool, custom: customTool }), { min: 1 }),
  }),
  tool_search: object(
    { type },
    {
      execution: oneOf("server", "client"),
      description: maybe(text()),
      parameters: maybe(anyObject),
    },
  ),
  apply_patch: object({ type }, { allowed_callers }),
});
