import { describe, expect, test } from "vitest";
import { RouteContext } from "./route-context.ts";
import { RouteTable } from "./route-table.ts";

function createTable(): RouteTable {
  const table = new RouteTable();
  const show = (name: string) => (context: RouteContext) =>
    context.json({ name, ...Object.fromEntries(context.req.params) });
  table.get("/v1/files", show("list"));
  table.post("/v1/files", show("create"));
  table.get("/v1/files/:id", show("file"));
  table.get("/v1/files/special", show("special"));
  table.delete("/v1/files/:id", show("delete"));
  table.get("/v1/stores/:store/files/:file", show("store file"));
  table
    .where((request) => request.header("x-other") !== undefined)
    .get("/v1/models/:id", show("other model"));
  table.get("/v1/models/:id", show("model"));
  return table;
}

async function route(method: string, target: string, headers: Record<string, string> = {}) {
  const context = new RouteContext(new Request(`http://local${target}`, { method, headers }));
  const handle = createTable().find(context.req);
  return handle ? await (await handle(context)).json() : null;
}

describe("a route table", () => {
  test.each([
    ["GET", "/v1/files", { name: "list" }],
    ["GET", "/v1/files?limit=1", { name: "list" }],
    ["GET", "/v1/files#part", { name: "list" }],
    ["HEAD", "/v1/files", { name: "list" }],
    ["POST", "/v1/files", { name: "create" }],
    ["GET", "/v1/%66iles", { name: "list" }],
    ["GET", "/v1/files/a", { name: "file", id: "a" }],
    ["GET", "/v1/files/:id", { name: "file", id: ":id" }],
    ["GET", "/v1/files/__proto__", { name: "file", id: "__proto__" }],
    ["GET", "/v1/files/a%2Fb", { name: "file", id: "a%2Fb" }],
    ["GET", "/v1/files/special", { name: "special" }],
    ["DELETE", "/v1/files/special", { name: "delete", id: "special" }],
    ["GET", "/v1/stores/a/files/b", { name: "store file", store: "a", file: "b" }],
  ])("finds the route of %s %s", async (method, target, found) => {
    expect(await route(method, target)).toEqual(found);
  });

  test.each([
    ["GET", "/"],
    ["GET", "/v1/files/"],
    ["GET", "//v1/files"],
    ["GET", "/v1//files"],
    ["GET", "/V1/files"],
    ["GET", "/v1%2Ffiles"],
    ["GET", "/v1/files/a/b"],
    ["GET", "/v1/stores//files/b"],
    ["DELETE", "/v1/files"],
    ["OPTIONS", "/v1/files"],
    ["PUT", "/v1/files/a"],
    ["constructor", "/v1/files"],
  ])("has no route for %s %s", async (method, target) => {
    expect(await route(method, target)).toBeNull();
  });

  test("sends a request that does not meet a condition to the next route", async () => {
    expect(await route("GET", "/v1/models/a", { "x-other": "1" })).toMatchObject({
      name: "other model",
    });
    expect(await route("GET", "/v1/models/a")).toMatchObject({ name: "model" });
  });
});
