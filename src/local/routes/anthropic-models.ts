import { isAnthropicRequest } from "../http/is-anthropic-request.ts";
import type { RouteTable } from "../http/route-table.ts";
import type { Ids } from "../ids.ts";

/** `/v1/models` for Anthropic's clients: one model, in Anthropic's format. Any other model name is accepted too. */
export function anthropicModelRoutes(routes: RouteTable, ids: Ids): void {
  const anthropic = routes.where(isAnthropicRequest);
  anthropic.get("/v1/models", (context) => {
    const { req } = context;
    const isFirstPage = req.query("after_id") === undefined && req.query("before_id") === undefined;
    const data = isFirstPage ? [createModel("local")] : [];
    const id = data[0]?.id ?? null;
    context.setHeader("request-id", ids.next("req_"));
    return context.json({ data, first_id: id, last_id: id, has_more: false });
  });
  anthropic.get("/v1/models/:id", (context) => {
    context.setHeader("request-id", ids.next("req_"));
    return context.json(createModel(context.req.param("id")));
  });
}

function createModel(id: string) {
  return {
    id,
    type: "model",
    display_name: id,
    created_at: "1970-01-01T00:00:00Z",
    lifecycle: "active",
    capabilities: null,
    deprecated_at: null,
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: null,
  };
}
