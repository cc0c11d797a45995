import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { ApiProblem } from "../api-problem.ts";
import { randomIds } from "../ids.ts";
import { createRefusal } from "./create-refusal.ts";

const problem = new ApiProblem(403, "No.", { headers: { connection: "close" } });

test("createRefusal() answers a request without a method or a URL in OpenAI's format", async () => {
  const incoming = { headers: {} } as IncomingMessage;
  const response = createRefusal(incoming, problem, { ids: randomIds(), log: null });
  expect(response.status).toBe(403);
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  expect(await response.json()).toMatchObject({ error: { message: "No." } });
});

test("createRefusal() answers Anthropic's paths in Anthropic's format", async () => {
  const incoming = {
    url: "/v1/messages?beta=true",
    method: "POST",
    headers: {},
  } as IncomingMessage;
  const response = createRefusal(incoming, problem, { ids: randomIds(), log: null });
  expect(response.headers.get("request-id")).toMatch(/^req_/);
  expect(await response.json()).toMatchObject({ error: { type: "permission_error" } });
});
