import { describe, expect, expectTypeOf, test } from "vitest";
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
import {
  OpenAIAdapter,
  OpenAICodeInterpreterTool,
  type OpenAICodeInterpreterToolOptions,
} from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { clients } from "../openai-clients.ts";
import {
  codeInterpreterCall,
  containerFileCitation,
  functionCall,
  message,
  wireServer,
} from "../wire-server.ts";
import { failure, run } from "./example-run.ts";

function identityProviderOutput(
  result: CodeInterpreterResult,
  _context: ToolContext,
): ToolResult<CodeInterpreterResult> {
  return ToolResult.ok(result, result.text || result.stdout);
}

const request =
  "Load /mnt/data/input.csv, calculate the mean of the `value` column, and generate a histogram PNG.";

function promptWith(...tools: readonly Tool[]) {
  const section = new MarkdownSection({ title: "Task", key: "task", template: request, tools });
  return new Prompt(new PromptTemplate({ ns: "example", key: "python", sections: [section] }));
}

const python = (options: OpenAICodeInterpreterToolOptions = {}) =>
  promptWith(new OpenAICodeInterpreterTool(options));

const taskMessage = {
  type: "message",
  role: "system",
  content: `## 1. Task (task)\n\n${request}`,
};

const histogram = {
  type: "containerFile",
  containerId: "cntr_1",
  fileId: "cfile_1",
  filename: "histogram.png",
  span: [21, 34],
};

/** One run of Python that went well, and what the model says of it. */
const ran = [
  { ...codeInterpreterCall("print(mean)", ["4.5\n"]), id: "ci_1" },
  message("The mean is 4.5. See histogram.png.", [
    containerFileCitation("cfile_1", "histogram.png", [21, 34]),
  ]),
];

const traceback = "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'value'";

describe.each(clients)("S1 OpenAI Code Interpreter Tool, on %s", (_, reach) => {
  test("Usage examples > Registering OpenAICodeInterpreterTool: it is declared, forced, heard and its files are downloaded", async () => {
    const codeInterpreter = new OpenAICodeInterpreterTool({
      name: "openai_python",
      description: "Executes model-authored Python in a sandboxed container.",
      container: { type: "auto", memoryLimit: "4g", fileIds: ["file_csv_upload"] },
      handleProviderOutput: identityProviderOutput,
    });
    expect(codeInterpreter.container).toEqual({
      type: "auto",
      memoryLimit: "4g",
      fileIds: ["file_csv_upload"],
    });

    const png = new Uint8Array([137, 80, 78, 71]);
    const routes = { "GET /containers/cntr_1/files/cfile_1/content": { bytes: png } };
    await using api = await wireServer([ran], { routes });
    const bus = recordingBus();
    const adapter = new OpenAIAdapter({ model: "gpt-4.1", ...reach(api.url) });
    const response = await adapter.evaluate(promptWith(codeInterpreter), {
      session: new Session({ bus }),
      toolChoice: "required",
    });

    expect(api.requests[0]?.body).toEqual({
      model: "gpt-4.1",
      input: [taskMessage],
      tools: [
        {
          type: "code_interpreter",
          container: { type: "auto", memory_limit: "4g", file_ids: ["file_csv_upload"] },
        },
      ],
      tool_choice: "required",
      include: ["code_interpreter_call.outputs"],
    });
    expect(response.text).toBe("The mean is 4.5. See histogram.png.");
    expect(bus.of("ToolInvoked")).toMatchObject([
      {
        name: "openai_python",
        callId: "ci_1",
        result: { success: true, message: response.text, value: { stdout: "4.5\n" } },
        origin: { provider: "openai", capability: "code_interpreter", containerId: "cntr_1" },
      },
    ]);

    const downloaded: [string, Uint8Array][] = [];
    for (const citation of response.citations) {
      if (citation.type !== "containerFile") continue;
      downloaded.push([citation.filename, await adapter.downloadFile(citation)]);
    }
    expect(downloaded).toEqual([["histogram.png", png]]);
  });

  test("Usage examples > Registering OpenAICodeInterpreterTool: host mounts are refused with a remedy, before anything is sent", async () => {
    const hostMounts = [
      {
        hostPath: "sunfish",
        mountPath: "workspace/sunfish",
        includeGlob: ["*.py", "*.md", "*.txt"],
        excludeGlob: ["**/__pycache__/**"],
        maxBytes: 600_000,
      },
    ];
    const prompt = python({ name: "openai_python", container: { type: "auto", hostMounts } });
    const { error, requests } = await failure(reach, prompt);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "example:python" });
    expect(String(error)).toContain('Hosted tool "openai_python" config.container.hostMounts');
    expect(String(error)).toContain("upload them with uploadFile and give their ids as fileIds");
    expect(requests).toEqual([]);
  });

  test("ProviderTool abstraction > Registration rules: a tool of another provider is refused before anything is sent", async () => {
    const foreign = new ProviderTool({
      provider: "anthropic",
      kind: "code_interpreter",
      name: "their_python",
      description: "Executes Python elsewhere.",
      params: null,
      config: {},
    });
    const { error, requests } = await failure(reach, promptWith(foreign));
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(String(error)).toContain('Hosted tool "their_python" provider must be "openai"');
    expect(requests).toEqual([]);
  });

  test("ProviderTool abstraction > Registration rules: without a hook the handler is asked, and finds what the provider gave", async () => {
    const heard: unknown[] = [];
    const { bus } = await run(
      reach,
      python({
        handler: (params, { providerOutput }) => {
          heard.push(params, providerOutput);
          return { success: true, message: "Looked at it", value: null };
        },
      }),
      { script: [ran] },
    );
    expect(heard).toMatchObject([null, { code: "print(mean)", stdout: "4.5\n" }]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ result: { message: "Looked at it" } }]);
  });

  test("ProviderTool abstraction > Registration rules: the hook is asked first, and the handler is then not asked", async () => {
    const { bus } = await run(
      reach,
      python({
        handleProviderOutput: (result) => ToolResult.ok(result, "The hook"),
        handler: () => ToolResult.error("The handler"),
      }),
      { script: [ran] },
    );
    expect(bus.of("ToolInvoked")).toMatchObject([{ result: { message: "The hook" } }]);
  });

  test("ProviderTool abstraction > Registration rules: hook and handler have the same context, and it is that of any tool", async () => {
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
    const script = [[...ran, functionCall("look", {})], [message("Done.")]];
    const options = { script, evaluate: { session, deadline: Deadline.after(60_000) } };
    const hooked = new OpenAICodeInterpreterTool({
      handleProviderOutput: (_result, context) => keep(context),
    });
    const handled = new OpenAICodeInterpreterTool({
      handler: (_params, context) => keep(context),
    });
    await run(reach, promptWith(hooked, look), options);
    await run(reach, promptWith(handled, look), options);
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
    "OpenAICodeInterpreterTool contract > Configuration schema: the memory tier %j is refused when the tool is made",
    (memoryLimit) => {
      const make = () =>
        // @ts-expect-error: there is no such tier
        new OpenAICodeInterpreterTool({ container: { type: "auto", memoryLimit } });
      expect(make).toThrow(PromptValidationError);
      expect(make).toThrow('must be one of "1g", "4g", "16g", "64g"');
    },
  );

  test.each(["1g", "4g", "16g", "64g"] as const)(
    "OpenAICodeInterpreterTool contract > Configuration schema: the memory tier %s is sent",
    async (memoryLimit) => {
      const { bodies } = await run(reach, python({ container: { type: "auto", memoryLimit } }), {
        script: [[message("Done.")]],
      });
      expect(bodies[0]?.["tools"]).toEqual([
        { type: "code_interpreter", container: { type: "auto", memory_limit: memoryLimit } },
      ]);
    },
  );

  test("OpenAICodeInterpreterTool contract > Configuration schema: a container that names nothing is refused when the tool is made", () => {
    // @ts-expect-error: it is neither new nor one that exists
    expect(() => new OpenAICodeInterpreterTool({ container: {} })).toThrow(PromptValidationError);
    const nameless = () => new OpenAICodeInterpreterTool({ container: { id: "" } });
    expect(nameless).toThrow(PromptValidationError);
  });

  test("OpenAICodeInterpreterTool contract > Configuration schema: a container of the caller's is looked for once, and sent by its id alone", async () => {
    const routes = {
      "GET /containers/cntr_mine": { json: { id: "cntr_mine", status: "running" } },
    };
    const look = new Tool({
      name: "look",
      description: "Looks around.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    const tool = new OpenAICodeInterpreterTool({
      container: { id: "cntr_mine", memoryLimit: "4g" },
    });
    const { requests, bodies } = await run(reach, promptWith(tool, look), {
      script: [[functionCall("look", {})], [message("Done.")]],
      server: { routes },
    });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /containers/cntr_mine",
      "POST /responses",
      "POST /responses",
    ]);
    for (const body of bodies) {
      expect(body["tools"]).toEqual([
        expect.objectContaining({ type: "function", name: "look" }),
        { type: "code_interpreter", container: "cntr_mine" },
      ]);
    }
  });

  test("OpenAICodeInterpreterTool contract > Input/Output schemas: it takes no params, and says that the model writes the code", () => {
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
    const { response, bodies } = await run(reach, prompt, {
      script: [[codeInterpreterCall("print(mean)", ["4.5\n"]), message('{"mean":4.5}')]],
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

  test("OpenAICodeInterpreterTool contract > Response handling: the result has the output for its message, and output, exit code and files for its value", async () => {
    const { response, bus } = await run(reach, python(), { script: [ran] });
    const value = {
      text: "The mean is 4.5. See histogram.png.",
      code: "print(mean)",
      stdout: "4.5\n",
      stderr: "",
      exitCode: 0,
      calls: [
        {
          id: "ci_1",
          code: "print(mean)",
          stdout: "4.5\n",
          stderr: "",
          exitCode: 0,
          images: [],
          containerId: "cntr_1",
          status: "completed",
        },
      ],
      files: [histogram],
    };
    expect(bus.of("ToolInvoked").map(({ result }) => result)).toEqual([
      { success: true, message: "4.5\n", value },
    ]);
    expect(response.hostedOutputs.get("code_interpreter")).toEqual(value);
    expect(response.hostedOutputs.get(codeInterpreterTool())).toEqual(value);
    expect(response.citations).toEqual([histogram]);
  });

  test("OpenAICodeInterpreterTool contract > Response handling: a run that failed is no success, and keeps its trace and what was cited", async () => {
    const failed = { ...codeInterpreterCall("print(mean)", [traceback]), status: "failed" };
    const words = message("It failed; see histogram.png.", [
      containerFileCitation("cfile_1", "histogram.png", [15, 28]),
    ]);
    const { response, bus } = await run(reach, python(), { script: [[failed, words]] });
    const files = [{ ...histogram, span: [15, 28] }];
    expect(bus.of("ToolInvoked").map(({ result }) => result)).toMatchObject([
      {
        success: false,
        message: traceback,
        value: { stdout: traceback, stderr: traceback, exitCode: 1, files },
      },
    ]);
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ exitCode: 1, files });
    expect(response.citations).toEqual(files);
  });
});
