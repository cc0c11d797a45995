import { describe, expect, test } from "vitest";
import {
  InvalidOptionError,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
} from "weakincentives";
import {
  ContainerExpiredError,
  OpenAIAdapter,
  OpenAICodeInterpreterTool,
  type OpenAICodeInterpreterToolOptions,
  uploadFile,
} from "weakincentives/openai";
import * as z from "zod";
import { clients } from "../openai-clients.ts";
import { temporaryTree } from "../temporary-tree.ts";
import { codeInterpreterCall, message, refusal, wireServer } from "../wire-server.ts";
import { failure, run } from "./example-run.ts";

const request = "Calculate the mean.";

function python(options: OpenAICodeInterpreterToolOptions = {}) {
  const tools = [new OpenAICodeInterpreterTool(options)];
  const section = new MarkdownSection({ title: "Task", key: "task", template: request, tools });
  return new Prompt(new PromptTemplate({ ns: "example", key: "python", sections: [section] }));
}

const taskMessage = {
  type: "message",
  role: "system",
  content: "## 1. Task (task)\n\nCalculate the mean.",
};

const ran = [codeInterpreterCall("print(mean)", ["4.5\n"]), message("The mean is 4.5.")];

describe.each(clients)("S1 OpenAI Code Interpreter Tool, on %s", (_, reach) => {
  const gone = { message: "Container with id 'cntr_mine' not found." };
  const dead = [
    ["not there", { status: 404, error: gone }],
    ["expired", { json: { id: "cntr_mine", status: "expired" } }],
  ] as const;

  test.each(dead)(
    "OpenAICodeInterpreterTool contract > Container lifecycle and files: a container that is %s is told of by one look, and nothing is posted",
    async (_state, answer) => {
      const { error, requests } = await failure(reach, python({ container: { id: "cntr_mine" } }), {
        server: { routes: { "GET /containers/cntr_mine": answer } },
      });
      expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "GET /containers/cntr_mine",
      ]);
      if (!(error instanceof PromptEvaluationError)) throw error;
      expect(error).toMatchObject({ phase: "request", promptName: "example:python" });
      expect(error.message).toContain("Container cntr_mine is gone");
      expect(error.message).toContain("make a new one and give its id, or leave the id out");
      if (!(error.cause instanceof ContainerExpiredError)) throw error.cause;
      expect(error.cause.containerId).toBe("cntr_mine");
      expect(error.cause.originalError).toBeInstanceOf(Error);
    },
  );

  test("OpenAICodeInterpreterTool contract > Container lifecycle and files: a container that dies at the request itself is told of too, and the caller may go on in a new one", async () => {
    const routes = {
      "GET /containers/cntr_mine": { json: { id: "cntr_mine", status: "running" } },
    };
    const expired = { status: 400, error: { message: "Container is expired." } };
    const session = new Session();
    const { error } = await failure(reach, python({ container: { id: "cntr_mine" } }), {
      script: [expired],
      server: { routes },
      evaluate: { session },
    });
    expect(error).toMatchObject({ cause: { name: "ContainerExpiredError" } });
    const { response } = await run(reach, python({ container: { type: "auto" } }), {
      script: [ran],
      evaluate: { session },
    });
    expect(response.hostedOutputs.size).toBe(1);
  });

  test("OpenAICodeInterpreterTool contract > Container lifecycle and files: what was uploaded is named by its id, in the container and in the input", async () => {
    const folder = temporaryTree({ "input.csv": "value\n4\n5\n" });
    const routes = { "POST /files": { json: { id: "file_csv_upload", object: "file" } } };
    await using api = await wireServer([ran], { routes });
    const adapter = new OpenAIAdapter({ model: "gpt-4.1", ...reach(api.url) });
    const { id } = await uploadFile(adapter.client, `${folder}/input.csv`);
    const prompt = python({ container: { type: "auto", fileIds: [id] } }).attach({ fileId: id });
    await adapter.evaluate(prompt, { session: new Session() });
    const [upload, asked] = api.requests;
    expect(api.requests).toHaveLength(2);
    expect(upload?.text).toContain('filename="input.csv"');
    expect(asked?.body).toMatchObject({
      tools: [{ container: { type: "auto", file_ids: ["file_csv_upload"] } }],
      input: [
        taskMessage,
        { role: "user", content: [{ type: "input_file", file_id: "file_csv_upload" }] },
      ],
    });
  });

  test("OpenAICodeInterpreterTool contract > Container lifecycle and files: a file of a type that is of no use there is refused before it is uploaded", async () => {
    const folder = temporaryTree({ "setup.exe": "MZ" });
    await using api = await wireServer([]);
    const { client } = new OpenAIAdapter({ model: "gpt-4.1", ...reach(api.url) });
    await expect(uploadFile(client, `${folder}/setup.exe`)).rejects.toThrow(InvalidOptionError);
    await expect(uploadFile(client, `${folder}/setup.exe`)).rejects.toThrow('but is "setup.exe"');
    expect(api.requests).toEqual([]);
  });

  const filtered = { incomplete_details: { reason: "content_filter" } };

  test("OpenAICodeInterpreterTool contract > Error handling: an answer that was filtered says so by its finish reason", async () => {
    const { response } = await run(reach, python(), {
      script: [{ output: [message("The mean")], ...filtered }],
    });
    expect(response).toMatchObject({ text: "The mean", finishReason: "content_filter" });
    const refused = await run(reach, python(), { script: [[refusal("I will not.")]] });
    expect(refused.response.finishReason).toBe("content_filter");
  });

  test("OpenAICodeInterpreterTool contract > Error handling: output that was required and filtered is an error", async () => {
    const sections = [new MarkdownSection({ title: "Task", key: "task", template: request })];
    const output = z.object({ mean: z.number() });
    const template = new PromptTemplate({ ns: "example", key: "mean", output, sections });
    const { error } = await failure(reach, new Prompt(template), {
      script: [{ output: [message('{"mean":')], ...filtered }],
    });
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "response", promptName: "example:mean" });
    expect(String(error)).toContain("content filter withheld it");
  });
});
