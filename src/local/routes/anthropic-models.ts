import type { Hono } from "hono";
import { forAnthropic } from "../http/is-anthropic-request.ts";
import type { Ids } from "../ids.ts";

/** `/v1/models` for Anthropic's clients: one model, in Anthropic's format. Any other model name is accepted too. */
export function anthropicModelRoutes(app: Hono, ids: Ids): void {
  app.get(
    "/v1/models",
    forAnthropic((context) => {
      const { after_id: after, before_id: before } = context.req.query();
      const data = after === undefined && before === undefined ? [createModel("local")] : [];
      const id = data[0]?.id ?? null;
      context.header("request-id", ids.next("req_"));
      return context.json({ data, first_id: id, last_id: id, has_more: false });
    }),
  );
  app.get(
    "/v1/models/:id",
    forAnthropic<"/v1/models/:id">((context) => {
      context.header("request-id", ids.next("req_"));
      return context.json(createModel(context.req.param("id")));
    }),
  );
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
