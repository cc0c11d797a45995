import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createTaskPrompt, lookTool, runScript } from "../../../tests/support/openai-run.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import type { HostedToolCodec } from "../codecs/codec.ts";
import { createCodecRegistry } from "../codecs/codec-registry.ts";
import type { WireItem } from "../wire.ts";
import { readResponse } from "./response.ts";

const read = (value: unknown) =>
  readResponse(value, {
    rendered: createTaskPrompt().render(),
    codecs: createCodecRegistry(),
    requestId: "req_1",
    secrets: ["secret-secret"],
    getEntries: () => new Map(),
  });

test.each([null, 7, "text", [[]]])("readResponse() rejects %j", (value) => {
  expect(() => read(value)).toThrow("which is not a response");
});

test("readResponse() reports an unreadable response with the request id and without secrets", () => {
  const odd = { status: "odd secret-secret", output: [], id: "secret-secret" };
  expect(() => read(odd)).toThrow(
    expect.objectContaining({
      message: 'The response has the status "odd <redacted>", not "completed"',
      phase: "response",
      requestId: "req_1",
      providerPayload: { status: "odd <redacted>", output: [], id: "<redacted>" },
    }),
  );
});

describe("a codec without calls()", () => {
  const search = webSearchTool();
  const createCodec = (parseOutput: HostedToolCodec["parseOutput"]): HostedToolCodec => ({
    kind: "web_search",
    serialize: () => ({ type: "web_search" }),
    parseOutput,
  });
  const run = (parseOutput: HostedToolCodec["parseOutput"], output: readonly WireItem[]) =>
    runScript([output], {
      prompt: createTaskPrompt({ hostedTools: [search] }),
      adapter: { hostedToolCodecs: [createCodec(parseOutput)] },
    });

  test("reports one call per turn if it returns an output", async () => {
    const items = [{ ...webSearchCall(), id: "ws_7" }, message("Found.")];
    const { response, bus } = await run((all) => ({ items: all.length }), items);
    expect(response?.hostedOutputs.get("web_search")).toEqual({ items: 2 });
    expect(bus.of("ToolInvoked")).toMatchObject([
      { name: "web_search", callId: "ws_7", params: { type: "web_search_call" } },
    ]);
  });

  test("reports no call if it returns null", async () => {
    const { response, bus } = await run(() => null, [message("No need.")]);
    expect(response?.hostedOutputs.size).toBe(0);
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("fails in phase parse if it throws", async () => {
    const { error } = await run(() => {
      throw new TypeError("not what I know");
    }, [message("Hm.")]);
    expect(error).toMatchObject({
      name: "PromptEvaluationError",
      phase: "parse",
      message: 'The codec for "web_search" could not read the response: not what I know',
      partial: { turns: 0 },
    });
  });
});

test("the spans of citations refer to the text of a structured answer", async () => {
  const link = "([Owls](https://owls.example))";
  const written = `{ "facts": ["They hunt at night ${link}."] }`;
  const start = written.indexOf(link);
  const cited = {
    type: "url_citation",
    url: "https://owls.example",
    title: "Owls",
    start_index: start,
    end_index: start + link.length,
  };
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Go.",
    hostedTools: [webSearchTool()],
  });
  const output = z.object({ facts: z.array(z.string()) });
  const prompt = new Prompt(new PromptTemplate({ ns: "a", key: "b", sections: [task], output }));
  const { response, bus } = await runScript([[webSearchCall(), message(written, [cited])]], {
    prompt,
  });
  const { span } = response?.citations[0] ?? {};
  expect(response?.output).toEqual({ facts: [`They hunt at night ${link}.`] });
  expect(response?.text).toBe(written);
  expect(response?.text.slice(...(span ?? []))).toBe(link);
  expect(bus.of("PromptExecuted")[0]?.text).toBe(written);
  expect(response?.hostedOutputs.get(webSearchTool())?.text).toBe(written);
});

test("a codec that throws for the whole conversation fails in phase parse and retains the answer", async () => {
  const codec: HostedToolCodec = {
    kind: "echo",
    serialize: () => ({ type: "web_search" }),
    calls: () => [],
    parseOutput: () => {
      throw new Error("too late");
    },
  };
  const tool = new HostedTool({ kind: "echo", name: "echo", description: "Echoes.", config: {} });
  const { error } = await runScript([[message("Said.")]], {
    prompt: createTaskPrompt({ hostedTools: [tool] }),
    adapter: { hostedToolCodecs: [codec] },
  });
  expect(error).toMatchObject({ phase: "parse", partial: { text: "Said.", turns: 1 } });
});

test("a codec's calls receive the text and citations of the answer", async () => {
  const cited = { type: "url_citation", url: "https://owls.example", title: "Owls" };
  const codec: HostedToolCodec = {
    kind: "echo",
    serialize: () => ({ type: "web_search" }),
    calls: (items, { name, kind }, words) => [
      {
        name,
        kind,
        callId: "1",
        params: {},
        output: words,
        success: true,
        message: "OK",
        raw: items,
      },
    ],
    parseOutput: () => null,
  };
  const tool = new HostedTool({ kind: "echo", name: "echo", description: "Echoes.", config: {} });
  const answer = message("Owls hunt.", [{ ...cited, start_index: 0, end_index: 4 }]);
  const { response } = await runScript([[answer], [answer]], {
    prompt: createTaskPrompt({ hostedTools: [tool, webSearchTool()] }),
    adapter: { hostedToolCodecs: [codec] },
  });
  const [call] = response?.hostedCalls ?? [];
  const citations = [{ type: "url", span: [0, 4], url: "https://owls.example", title: "Owls" }];
  expect(call?.output).toEqual({ text: "Owls hunt.", citations });
});

test("calls are published in the order of their items, not of the tools", async () => {
  const { bus } = await runScript(
    [
      [
        webSearchCall("one"),
        codeInterpreterCall("1"),
        webSearchCall("two"),
        functionCall("look", {}),
      ],
      [message("Done.")],
    ],
    {
      prompt: createTaskPrompt({
        tools: [lookTool],
        hostedTools: [codeInterpreterTool(), webSearchTool()],
      }),
    },
  );
  expect(bus.of("ToolInvoked").map(({ name }) => name)).toEqual([
    "web_search",
    "code_interpreter",
    "web_search",
    "look",
  ]);
});
