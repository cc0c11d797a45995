import type { Hono } from "hono";
import { checkQuery } from "../http/check-query.ts";

/** `/v1/models`: lists one model. Any other model name is accepted too. */
export function modelRoutes(app: Hono): void {
  const local = { id: "local", object: "model", created: 0, owned_by: "weakincentives" };
  app.get("/v1/models", (context) => {
    checkQuery(context.req, "client_version"); // Codex sends it
    return context.json({ object: "list", data: [local] });
  });
  app.get("/v1/models/:id", (context) => {
    checkQuery(context.req);
    return context.json({ ...local, id: context.req.param("id") });
  });
}
