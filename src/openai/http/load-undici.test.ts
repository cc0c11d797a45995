import { expect, test } from "vitest";
import { loadUndici } from "./load-undici.ts";

test("loads the files that send requests, and not undici's index", async () => {
  const loaded: string[] = [];
  const { Agent, send } = await loadUndici(async (path) => {
    loaded.push(path);
    return (await import(path)).default;
  });
  expect(loaded).toHaveLength(3);
  const agent = new Agent();
  const refused = send(agent, { origin: "http://127.0.0.1:1", path: "/", method: "GET" });
  await expect(refused).rejects.toThrow("ECONNREFUSED");
  await agent.close();
});

test.each([
  ["have moved", () => Promise.reject(new Error("not found"))],
  ["export something else", async () => ({})],
])("loads the index if the files %s", async (_why, importFile) => {
  const { Agent, buildConnector, send } = await loadUndici(importFile);
  const undici = await import("undici");
  expect({ Agent, buildConnector }).toEqual({
    Agent: undici.Agent,
    buildConnector: undici.buildConnector,
  });
  const agent = new Agent();
  const refused = send(agent, { origin: "http://127.0.0.1:1", path: "/", method: "GET" });
  await expect(refused).rejects.toThrow("ECONNREFUSED");
  await agent.close();
});
