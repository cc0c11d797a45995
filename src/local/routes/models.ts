import { checkQuery } from "../http/check-query.ts";
import type { RouteTable } from "../http/route-table.ts";

/** `/v1/models`: lists one model. Any other model name is accepted too. */
export function modelRoutes(routes: RouteTable): void {
  const local = { id: "local", object: "model", created: 0, owned_by: "weakincentives" };
  routes.get("/v1/models", (context) => {
    checkQuery(context.req, "client_version"); // Codex sends it
    return context.json({ object: "list", data: [local] });
  });
  routes.get("/v1/models/:id", (context) => {
    checkQuery(context.req);
    return context.json({ ...local, id: context.req.param("id") });
  });
}
