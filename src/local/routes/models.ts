import type { Hono } from "hono";

/** `/v1/models`: lists one model. Any other model name is accepted too. */
export function modelRoutes(app: Hono): void {
  const local = { id: "local", object: "model", created: 0, owned_by: "weakincentives" };
  app.get("/v1/models", (context) => context.json({ object: "list", data: [local] }));
  app.get("/v1/models/:id", (context) => context.json({ ...local, id: context.req.param("id") }));
}
