import { expect, test } from "vitest";
import { lookTool, promptWith, runOn } from "../../../tests/support/openai-run.ts";
import { codeInterpreterCall, functionCall, message } from "../../../tests/support/wire-server.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";

function recordingLogger() {
  const lines: (readonly [string, string, object])[] = [];
  const at =
    (level: string) =>
    (said: string, facts: object = {}) => {
      lines.push([level, said, facts]);
    };
  return {
    lines,
    logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
  };
}

test("the log tells requests with their limits, and containers with their sizes", async () => {
  const { lines, logger } = recordingLogger();
  const container = { type: "auto", memoryLimit: "4g" } as const;
  await runOn([[{ ...codeInterpreterCall("1"), id: "ci_1" }, message("Ran.")]], {
    prompt: promptWith({ hostedTools: [codeInterpreterTool({ container })] }),
    adapter: { logger, modelConfig: { maxOutputTokens: 500 } },
  });
  const model = "gpt-5.2";
  expect(lines).toEqual([
    ["debug", "request", { model, items: 1, maxOutputTokens: 500 }],
    ["debug", "response", { model, requestId: "req_1" }],
    [
      "info",
      "hosted code ran",
      { name: "code_interpreter", callId: "ci_1", containerId: "cntr_1", memoryLimit: "4g" },
    ],
  ]);
});

test("a request that changes nothing is not made anew", async () => {
  let made = 0;
  const codec = {
    kind: "web_search",
    serialize: () => {
      made += 1;
      return { type: "web_search" };
    },
    parseOutput: () => null,
  };
  const script = [...Array.from({ length: 5 }, () => [functionCall("look", {})]), [message("Hi.")]];
  const { bodies } = await runOn(script, {
    prompt: promptWith({ tools: [lookTool], hostedTools: [webSearchTool()] }),
    adapter: { hostedToolCodecs: [codec] },
  });
  expect(bodies).toHaveLength(6);
  expect(made).toBe(2); // once to be looked at, once to be sent
});

test("a search that both allows and blocks domains is sent, with a warning", async () => {
  const { lines, logger } = recordingLogger();
  const domainFilter = { allowed: ["who.int"], blocked: ["blog.who.int"] };
  const { bodies } = await runOn([[message("Hi.")]], {
    prompt: promptWith({ hostedTools: [webSearchTool({ domainFilter })] }),
    adapter: { logger },
  });
  expect(bodies[0]?.["tools"]).toMatchObject([
    { filters: { allowed_domains: ["who.int"], blocked_domains: ["blog.who.int"] } },
  ]);
  expect(lines.filter(([level]) => level === "warn")).toMatchObject([
    ["warn", expect.stringContaining("both allows and blocks"), { name: "web_search" }],
  ]);
});
