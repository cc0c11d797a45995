import { expect, test } from "vitest";
import { RouteContext } from "./route-context.ts";

test("a JSON response has the headers of the context, its own, and its status", async () => {
  const context = new RouteContext(new Request("http://local/"));
  context.setHeader("x-one", "1");
  context.setHeader("x-two", "2");
  const response = context.json({ owl: "\u00e9" }, 404, { "x-two": "3" });
  expect(response.status).toBe(404);
  expect(Object.fromEntries(response.headers)).toEqual({
    "content-type": "application/json",
    "x-one": "1",
    "x-two": "3",
  });
  expect(await response.json()).toEqual({ owl: "\u00e9" });
});
