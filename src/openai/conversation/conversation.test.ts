import { expect, test } from "vitest";
import { createTaskPrompt, lookTool, runScript } from "../../../tests/support/openai-run.ts";
import { codeInterpreterCall, functionCall, message } from "../../../tests/support/wire-server.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";

function createRecordingLogger() {
  const lines: (readonly [string, string, object])[] = [];
  const log =
    (level: string) =>
    (text: string, facts: object = {}) => {
      lines.push([level, text, facts]);
    };
  return {
    lines,
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
  };
}

test("requests are logged with their limits, and containers with their memory", async () => {
  const { lines, logger } = createRecordingLogger();
  const container = { type: "auto", memoryLimit: "4g" } as const;
  await runScript([[{ ...codeInterpreterCall("1"), id: "ci_1" }, message("Ran.")]], {
    prompt: createTaskPrompt({ hostedTools: [codeInterpreterTool({ container })] }),
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

test("an unchanged request is not serialized again", async () => {
  let serializations = 0;
  const codec = {
    kind: "web_search",
    serialize: () => {
      serializations += 1;
      return { type: "web_search" };
    },
    parseOutput: () => null,
  };
  const script = [...Array.from({ length: 5 }, () => [functionCall("look", {})]), [message("Hi.")]];
  const { bodies } = await runScript(script, {
    prompt: createTaskPrompt({ tools: [lookTool], hostedTools: [webSearchTool()] }),
    adapter: { hostedToolCodecs: [codec] },
  });
  expect(bodies).toHaveLength(6);
  expect(serializations).toBe(2); // once for the check, once for the request
});

test("a web search that both allows and blocks domains is sent, with a warning", async () => {
  const { lines, logger } = createRecordingLogger();
  const domainFilter = { allowed: ["who.int"], blocked: ["blog.who.int"] };
  const { bodies } = await runScript([[message("Hi.")]], {
    prompt: createTaskPrompt({ hostedTools: [webSearchTool({ domainFilter })] }),
    adapter: { logger },
  });
  expect(bodies[0]?.["tools"]).toMatchObject([
    { filters: { allowed_domains: ["who.int"], blocked_domains: ["blog.who.int"] } },
  ]);
  expect(lines.filter(([level]) => level === "warn")).toMatchObject([
    ["warn", expect.stringContaining("both allows and blocks"), { name: "web_search" }],
  ]);
});
