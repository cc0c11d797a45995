import { describe, expect, test } from "vitest";
import { hostSandbox } from "../../../tests/support/host-sandbox.ts";
import { startProviderFixture } from "../../../tests/support/local/provider-fixture.ts";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import { isAnthropicAddress } from "../messages/anthropic-problem.ts";
import { readProviderSettings } from "../provider-options.ts";
import { startServer } from "../server.ts";

describe("query parameters", () => {
  test("every route of OpenAI's API refuses parameters that it does not have", async () => {
    using folder = createTemporaryDataDir();
    const settings = readProviderSettings({ sandbox: hostSandbox() });
    await using server = await startServer({ ...settings, dataDir: folder.path }, () => {});
    const routes = server.api.routes.routes.filter(({ path }) => path.startsWith("/v1"));
    expect(routes.length).toBeGreaterThan(30);
    for (const { method, path } of routes) {
      const isSocket = method === "GET" && path === "/v1/responses";
      if (isSocket || isAnthropicAddress(path)) continue;
      const url = `http://local${path.replaceAll(/:\w+/g, "x")}?strange=1`;
      const answer = await server.api.fetch(new Request(url, { method }));
      const { error } = await answer.json();
      expect({ route: `${method} ${path}`, status: answer.status, ...error }).toMatchObject({
        route: `${method} ${path}`,
        status: 400,
        message: "Unknown parameter: 'strange'.",
        param: "strange",
        code: "unknown_parameter",
      });
    }
  });

  test("Anthropic's routes accept the parameters of its SDK", async () => {
    const { fetch, url } = await startProviderFixture([[{ say: "Hi." }]]);
    const body = { model: "any", max_tokens: 10, messages: [{ role: "user", content: "Hi." }] };
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    expect((await fetch(`${url}/messages?beta=true`, init)).status).toBe(200);
  });

  test("bad values are refused with OpenAI's words", async () => {
    const { ask, respond } = await startProviderFixture([[{ say: "Hi." }]]);
    const { id } = await respond({ input: "Hi." });
    const cases = [
      [
        "/input_items?limit=0",
        "Invalid 'limit': integer below minimum value. Expected a value >= 1, but got 0 instead.",
      ],
      [
        "/input_items?limit=x",
        "Invalid type for 'limit': expected an integer, but got a string instead.",
      ],
      ["/input_items?order=up", "Invalid value: 'up'. Supported values are: 'asc' and 'desc'."],
      ["?stream=maybe", "Invalid type for 'stream': expected a boolean, but got a string instead."],
      [
        "?include_obfuscation=1",
        "Invalid type for 'include_obfuscation': expected a boolean, but got a string instead.",
      ],
      [
        "?stream=true&starting_after=-1",
        "Invalid 'starting_after': integer below minimum value. Expected a value >= 0, but got -1 instead.",
      ],
      ["?stream[]=true", "Unknown parameter: 'stream[]'."],
      ["?include[x]=y", "Unknown parameter: 'include[x]'."],
    ];
    for (const [query, message] of cases)
      expect(await ask(`GET /responses/${id}${query}`)).toMatchObject({
        status: 400,
        body: { error: { message, type: "invalid_request_error" } },
      });
    for (const key of ["include", "include[]", "include[0]"]) {
      const { body } = await ask(`GET /responses/${id}/input_items?${key}=everything`);
      expect(body).toMatchObject({ error: { param: "include[0]", code: "invalid_value" } });
    }
  });
});
