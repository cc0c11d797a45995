import { describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  type CodeInterpreterResult,
  codeInterpreterTool,
  Deadline,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  PromptValidationError,
  ProviderTool,
  Session,
  Tool,
  type ToolContext,
  ToolResult,
} from "weakincentives";
import type { ModelAction, ModelRequest } from "weakincentives/local";
import {
  OpenAICodeInterpreterTool,
  type OpenAICodeInterpreterToolOptions,
  uploadFile,
} from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { readRecords } from "../../src/base/json.ts";
import { clients } from "../support/openai-clients.ts";
import { runCanned } from "../support/specs/canned-run.ts";
import { runExample, runFailure, startExample } from "../support/specs/example-run.ts";
import { createHistogramCode, readBars, valuesOfCsv } from "../support/specs/histogram.ts";
import { readPrinted } from "../support/specs/model-reads.ts";
import { temporaryTree } from "../support/temporary-tree.ts";
import { codeInterpreterCall, containerFileCitation, message } from "../support/wire-server.ts";

// With Python in WebAssembly, every container takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

function identityProviderOutput(
  result: CodeInterpreterResult,
  _context: ToolContext,
): ToolResult<CodeInterpreterResult> {
  return ToolResult.ok(result, result.text || result.stdout);
}

const request =
  "Load /mnt/data/input.csv, calculate the mean of the `value` column, and generate a histogram PNG.";

function createPrompt(...tools: readonly Tool[]) {
  const section = new MarkdownSection({ title: "Task", key: "task", template: request, tools });
  return new Prompt(new PromptTemplate({ ns: "example", key: "python", sections: [section] }));
}

const createPythonTool = (options: OpenAICodeInterpreterToolOptions = {}) =>
  createPrompt(new OpenAICodeInterpreterTool(options));

const taskMessage = {
  type: "message",
  role: "system",
  content: `## 1. Task (task)\n\n${request}`,
};

const picture = "sandbox:/mnt/data/histogram.png";

/** Runs code, and answers with its output and a citation of its picture. */
function createCodeModel(code: string) {
  return (asked: ModelRequest): readonly ModelAction[] => {
    const mean = readPrinted(asked);
    if (mean === null) return [{ code }];
    return [{ say: `The mean is ${mean.trim()}. See [histogram.png](${picture}).` }];
  };
}

/** Code that succeeds without any of the caller's files. */
const code = createHistogramCode("[4.0, 5.0]");
const answer = `The mean is 4.5. See [histogram.png](${picture}).`;
const cited = [answer.indexOf(picture), answer.indexOf(picture) + picture.length];

describe.each(clients)("S1 OpenAI Code Interpreter Tool, on %s", (_, reach) => {
  test("Usage examples > Registering OpenAICodeInterpreterTool: the tool is declared and forced, its call is published, and its files are downloaded", async () => {
    const on = await startExample(reach, {
      script: createCodeModel(createHistogramCode(valuesOfCsv)),
    });
    const adapter = on.adapter({ delivery: "buffered" });
    const folder = temporaryTree({ "input.csv": "value\n3\n4\n5\n5\n" });
    const { id } = await uploadFile(adapter.client, `${folder}/input.csv`);

    const codeInterpreter = new OpenAICodeInterpreterTool({
      name: "openai_python",
      description: "Executes model-authored Python in a sandboxed container.",
      container: { type: "auto", memoryLimit: "4g", fileIds: [id] },
      handleProviderOutput: identityProviderOutput,
    });
    expect(codeInterpreter.container).toEqual({ type: "auto", memoryLimit: "4g", fileIds: [id] });

    const bus = recordingBus();
    const response = await adapter.evaluate(createPrompt(codeInterpreter), {
      session: new Session({ bus }),
      toolChoice: "required",
    });

    expect(on.requests[1]?.body).toEqual({
      model: "gpt-4.1",
      input: [taskMessage],
      tools: [
        {
          type: "code_interpreter",
          container: { type: "auto", memory_limit: "4g", file_ids: [id] },
        },
      ],
      tool_choice: "required",
      include: ["code_interpreter_call.outputs"],
    });
    expect(response.text).toBe(`The mean is 4.25. See [histogram.png](${picture}).`);
    const files = response.citations.filter((citation) => citation.type === "containerFile");
    const containerId = files[0]?.containerId;
    expect(bus.of("ToolInvoked")).toMatchObject([
      {
        name: "openai_python",
        callId: response.hostedCalls[0]?.callId,
        result: { success: true, message: response.text, value: { stdout: "4.25\n" } },
        origin: { provider: "openai", capability: "code_interpreter", containerId },
      },
    ]);

    const downloaded: [string, readonly number[]][] = [];
    for (const file of files)
      downloaded.push([file.filename, readBars(await adapter.downloadFile(file))]);
    expect(downloaded).toEqual([["histogram.png", [0, 0, 0, 1, 1, 2, 0, 0, 0, 0]]]);
    const { body: container } = await on.ask(`GET /containers/${containerId}`);
    expect(container["memory_limit"]).toBe("4g");
  });

  test("ProviderTool abstraction > Registration rules: another provider's tool is rejected before any request", async () => {
    const foreign = new ProviderTool({
      provider: "anthropic",
      kind: "code_interpreter",
      name: "their_python",
      description: "Executes Python elsewhere.",
      params: null,
      config: {},
    });
    const { error, requests } = await runFailure(reach, createPrompt(foreign));
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(String(error)).toContain('Hosted tool "their_python" provider must be "openai"');
    expect(requests).toEqual([]);
  });

  test("ProviderTool abstraction > Registration rules: without a hook the handler receives the provider's output", async () => {
    const heard: unknown[] = [];
    const { bus } = await runExample(
      reach,
      createPythonTool({
        handler: (params, { providerOutput }) => {
          heard.push(params, providerOutput);
          return { success: true, message: "Looked at it", value: null };
        },
      }),
      { script: createCodeModel(code) },
    );
    expect(heard).toMatchObject([null, { code, stdout: "4.5\n" }]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ result: { message: "Looked at it" } }]);
  });

  test("ProviderTool abstraction > Registration rules: the hook runs instead of the handler", async () => {
    const { bus } = await runExample(
      reach,
      createPythonTool({
        handleProviderOutput: (result) => ToolResult.ok(result, "The hook"),
        handler: () => ToolResult.error("The handler"),
      }),
      { script: createCodeModel(code) },
    );
    expect(bus.of("ToolInvoked")).toMatchObject([{ result: { message: "The hook" } }]);
  });

  test("ProviderTool abstraction > Registration rules: hook and handler receive the same context as any tool", async () => {
    const contexts: ToolContext[] = [];
    const keep = (context: ToolContext): ToolResult<never> => {
      contexts.push(context);
      return { success: true, message: "Kept", value: null };
    };
    const look = new Tool({
      name: "look",
      description: "Looks around.",
      params: null,
      handler: (_params, context) => keep(context),
    });
    const session = new Session();
    const script = [
      [{ code: "print(9 / 2)" }],
      [{ call: { name: "look", args: {} } }],
      [{ say: "Done." }],
    ];
    const options = { script, evaluate: { session, deadline: Deadline.after(60_000) } };
    const hooked = new OpenAICodeInterpreterTool({
      handleProviderOutput: (_result, context) => keep(context),
    });
    const handled = new OpenAICodeInterpreterTool({
      handler: (_params, context) => keep(context),
    });
    await runExample(reach, createPrompt(hooked, look), options);
    await runExample(reach, createPrompt(handled, look), options);
    const [hook, tool, handler] = contexts;
    expect(Object.keys(hook ?? {}).sort()).toEqual(Object.keys(handler ?? {}).sort());
    expect(Object.keys(hook ?? {}).sort()).toEqual(
      [...Object.keys(tool ?? {}), "providerOutput"].sort(),
    );
    for (const context of contexts) {
      expect(context.session).toBe(session);
      expect(context.bus).toBe(session.bus);
      expect(context.deadline).toBe(options.evaluate.deadline);
      expect(context.prompt.name).toBe("example:python");
      expect(context.adapter.name).toBe("openai");
    }
  });

  test.each(["2g", "8g", "", 4])(
    "OpenAICodeInterpreterTool contract > Configuration schema: the memory tier %j is rejected at construction",
    (memoryLimit) => {
      const make = () =>
        // @ts-expect-error: unknown tier
        new OpenAICodeInterpreterTool({ container: { type: "auto", memoryLimit } });
      expect(make).toThrow(PromptValidationError);
      expect(make).toThrow('must be one of "1g", "4g", "16g", "64g"');
    },
  );

  test.each(["1g", "4g", "16g", "64g"] as const)(
    "OpenAICodeInterpreterTool contract > Configuration schema: the memory tier %s is sent",
    async (memoryLimit) => {
      const { bodies } = await runExample(
        reach,
        createPythonTool({ container: { type: "auto", memoryLimit } }),
        {
          script: [[{ say: "Done." }]],
        },
      );
      expect(bodies[0]?.["tools"]).toEqual([
        { type: "code_interpreter", container: { type: "auto", memory_limit: memoryLimit } },
      ]);
    },
  );

  test("OpenAICodeInterpreterTool contract > Configuration schema: a container without type and id is rejected at construction", () => {
    // @ts-expect-error: neither a new nor an existing container
    expect(() => new OpenAICodeInterpreterTool({ container: {} })).toThrow(PromptValidationError);
    const nameless = () => new OpenAICodeInterpreterTool({ container: { id: "" } });
    expect(nameless).toThrow(PromptValidationError);
  });

  test("OpenAICodeInterpreterTool contract > Configuration schema: the adapter looks up the caller's container once and sends only its id", async () => {
    const look = new Tool({
      name: "look",
      description: "Looks around.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    const on = await startExample(reach, {
      script: [
        [{ code: "open('/mnt/data/mean.txt', 'w').write('4.5')" }],
        [{ call: { name: "look", args: {} } }],
        [{ say: "Done." }],
      ],
    });
    const made = await on.ask("POST /containers", { name: "mine", memory_limit: "4g" });
    const id = String(made.body["id"]);
    const tool = new OpenAICodeInterpreterTool({ container: { id, memoryLimit: "4g" } });
    const { requests, bodies } = await on.run(createPrompt(tool, look));
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /containers/${id}`,
      "POST /responses",
      "POST /responses",
    ]);
    for (const body of bodies) {
      expect(body["tools"]).toEqual([
        expect.objectContaining({ type: "function", name: "look" }),
        { type: "code_interpreter", container: id },
      ]);
    }
    const { body: files } = await on.ask(`GET /containers/${id}/files`);
    expect(files["data"]).toMatchObject([{ path: "/mnt/data/mean.txt", source: "assistant" }]);
  });

  test("OpenAICodeInterpreterTool contract > Input/Output schemas: the tool takes no params, and its description tells the model to write the code", () => {
    const tool = new OpenAICodeInterpreterTool();
    expect(tool).toBeInstanceOf(ProviderTool);
    expect(tool).toMatchObject({ provider: "openai", kind: "code_interpreter", params: null });
    expect(tool.paramsSchema).toMatchObject({ properties: {}, additionalProperties: false });
    expect(tool.description).toContain("Python code that the model writes");
  });

  test("OpenAICodeInterpreterTool contract > Request construction: structured output and the tool are in one request", async () => {
    const output = z.object({ mean: z.number() });
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: request,
      tools: [new OpenAICodeInterpreterTool()],
    });
    const prompt = new Prompt(
      new PromptTemplate({ ns: "example", key: "mean", output, sections: [section] }),
    );
    const { response, bodies } = await runExample(reach, prompt, {
      script: (asked) => {
        const mean = readPrinted(asked);
        return mean === null ? [{ code: "print(9 / 2)" }] : [{ say: { mean: Number(mean) } }];
      },
      adapter: { delivery: "buffered" },
    });
    expectTypeOf(response.output).toEqualTypeOf<{ mean: number }>();
    expect(response.output).toEqual({ mean: 4.5 });
    expect(bodies).toEqual([
      {
        model: "gpt-4.1",
        input: [taskMessage],
        tools: [{ type: "code_interpreter", container: { type: "auto" } }],
        tool_choice: "auto",
        include: ["code_interpreter_call.outputs"],
        text: {
          format: {
            type: "json_schema",
            name: "example_mean",
            schema: prompt.render().outputSchema,
            strict: true,
          },
        },
      },
    ]);
  });

  test("OpenAICodeInterpreterTool contract > Response handling: the result has the output as its message, and output, exit code and files as its value", async () => {
    const on = await startExample(reach, { script: createCodeModel(code) });
    const { response, bus } = await on.run(createPythonTool());
    const [event] = bus.of("ToolInvoked");
    const containerId = event?.origin?.containerId;
    const { body } = await on.ask(`GET /containers/${containerId}/files`);
    const [file] = readRecords(body, "data");
    const histogram = {
      type: "containerFile",
      containerId,
      fileId: file?.["id"],
      filename: "histogram.png",
      span: cited,
    };
    const ran = { code, stdout: "4.5\n", stderr: "", exitCode: 0 };
    const call = { ...ran, id: event?.callId, images: [], containerId, status: "completed" };
    const value = { text: answer, ...ran, calls: [call], files: [histogram] };
    expect(event?.result).toEqual({ success: true, message: "4.5\n", value });
    expect(response.hostedOutputs.get("code_interpreter")).toEqual(value);
    expect(response.hostedOutputs.get(codeInterpreterTool())).toEqual(value);
    expect(response.citations).toEqual([histogram]);
  });

  // The provider reports code that raised as completed (decision 45). No recording of a failed run
  // exists.
  const traceback = "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'value'";

  test("OpenAICodeInterpreterTool contract > Response handling: a failed run is not a success, and keeps its traceback and citations", async () => {
    const failed = { ...codeInterpreterCall("print(mean)", [traceback]), status: "failed" };
    const words = message("It failed; see histogram.png.", [
      containerFileCitation("cfile_1", "histogram.png", [15, 28]),
    ]);
    const { response, bus } = await runCanned(reach, createPythonTool(), {
      script: [[failed, words]],
    });
    const files = [{ type: "containerFile", fileId: "cfile_1", span: [15, 28] }];
    expect(bus.of("ToolInvoked").map(({ result }) => result)).toMatchObject([
      {
        success: false,
        message: traceback,
        value: { stdout: traceback, stderr: traceback, exitCode: 1, files },
      },
    ]);
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ exitCode: 1, files });
    expect(response.citations).toMatchObject(files);
  });

  test("OpenAICodeInterpreterTool contract > Response handling: code that raises is not a success, and keeps its traceback and the files it created", async () => {
    const made = `${code}\nprint({"mean": 4.5}["value"])`;
    const say = `It failed; see ${picture}.`;
    const { response, bus } = await runExample(reach, createPythonTool(), {
      script: [[{ code: made }], [{ say }]],
    });
    const [result] = bus.of("ToolInvoked").map((event) => event.result);
    const files = [
      { type: "containerFile", filename: "histogram.png", span: [15, 15 + picture.length] },
    ];
    const raised = expect.stringContaining("KeyError: 'value'");
    const value = { stdout: raised, stderr: raised, exitCode: 1, files };
    expect(result).toMatchObject({ success: false, message: raised, value });
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject(value);
    expect(response.hostedCalls).toMatchObject([{ success: false, output: value }]);
    expect(response.citations).toMatchObject(files);
  });
});
