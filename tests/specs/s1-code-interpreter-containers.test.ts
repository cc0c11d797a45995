import { describe, expect, test, vi } from "vitest";
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
  OpenAICodeInterpreterTool,
  type OpenAICodeInterpreterToolOptions,
  uploadFile,
} from "weakincentives/openai";
import { fakeClock } from "weakincentives/testing";
import * as z from "zod";
import { clients } from "../support/openai-clients.ts";
import { runCanned, runCannedFailure } from "../support/specs/canned-run.ts";
import {
  type Example,
  runExample,
  runFailure,
  startExample,
} from "../support/specs/example-run.ts";
import { valuesOfCsv } from "../support/specs/histogram.ts";
import { temporaryTree } from "../support/temporary-tree.ts";
import { message } from "../support/wire-server.ts";
import { hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

// With Python in WebAssembly, every container takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

const request = "Calculate the mean.";

function createPythonTool(options: OpenAICodeInterpreterToolOptions = {}) {
  const tools = [new OpenAICodeInterpreterTool(options)];
  const section = new MarkdownSection({ title: "Task", key: "task", template: request, tools });
  return new Prompt(new PromptTemplate({ ns: "example", key: "python", sections: [section] }));
}

const taskMessage = {
  type: "message",
  role: "system",
  content: "## 1. Task (task)\n\nCalculate the mean.",
};

async function createContainer({ ask }: Example): Promise<string> {
  const { body } = await ask("POST /containers", { name: "mine" });
  return String(body["id"]);
}

describe.each(clients)("S1 OpenAI Code Interpreter Tool, on %s", (_, reach) => {
  const dead = [
    ["missing", async () => ({ on: await startExample(reach), id: "cntr_mine" })],
    [
      "expired",
      async () => {
        const clock = fakeClock({ now: Date.now() });
        const on = await startExample(reach, { provider: { clock } });
        const id = await createContainer(on);
        await clock.advance(21 * 60_000);
        return { on, id };
      },
    ],
  ] as const;

  test.each(dead)(
    "OpenAICodeInterpreterTool contract > Container lifecycle and files: a container that is %s is reported after one lookup, without a POST request",
    async (_state, made) => {
      const { on, id } = await made();
      const { error, requests } = await on.failure(createPythonTool({ container: { id } }));
      expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        `GET /containers/${id}`,
      ]);
      if (!(error instanceof PromptEvaluationError)) throw error;
      expect(error).toMatchObject({ phase: "request", promptName: "example:python" });
      expect(error.message).toContain(`Container ${id} no longer exists`);
      expect(error.message).toContain("Create a new one and pass its id, or omit the id");
      if (!(error.cause instanceof ContainerExpiredError)) throw error.cause;
      expect(error.cause.containerId).toBe(id);
      expect(error.cause.originalError).toBeInstanceOf(Error);
    },
  );

  test("OpenAICodeInterpreterTool contract > Container lifecycle and files: a container that expires during the request is reported too, and the caller can continue in a new one", async () => {
    const script = [
      [{ expireContainer: true }, { code: "print(1)" }],
      [{ code: "print(9 / 2)" }],
      [{ say: "The mean is 4.5." }],
    ] as const;
    const on = await startExample(reach, { script });
    const id = await createContainer(on);
    const session = new Session();
    const { error } = await on.failure(createPythonTool({ container: { id } }), {
      evaluate: { session },
    });
    expect(error).toMatchObject({ cause: { name: "ContainerExpiredError", containerId: id } });
    const auto = createPythonTool({ container: { type: "auto" } });
    const { response } = await on.run(auto, { evaluate: { session } });
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ stdout: "4.5\n" });
  });

  test.skipIf(!hasBubblewrap)(
    "OpenAICodeInterpreterTool contract > Container lifecycle and files: a container expires twenty minutes after its last use",
    async () => {
      const clock = fakeClock({ now: Date.now() });
      const runs = ["mean = 9 / 2", "print(mean)"].flatMap((code) => [
        [{ code }],
        [{ say: "Done." }],
      ]);
      const on = await startExample(reach, { script: runs, provider: { clock } });
      const mine = createPythonTool({ container: { id: await createContainer(on) } });
      await clock.advance(19 * 60_000);
      await on.run(mine);
      await clock.advance(19 * 60_000);
      const { response } = await on.run(mine);
      expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ stdout: "4.5\n" });
      await clock.advance(21 * 60_000);
      const { error } = await on.failure(mine);
      expect(error).toMatchObject({ cause: { name: "ContainerExpiredError" } });
    },
  );

  test("OpenAICodeInterpreterTool contract > Container lifecycle and files: an uploaded file is identified by its id in the container and in the input", async () => {
    const folder = temporaryTree({ "input.csv": "value\n4\n5\n" });
    const code = `import csv, glob\nvalues = ${valuesOfCsv}\nprint(sum(values) / len(values))`;
    const on = await startExample(reach, { script: [[{ code }], [{ say: "The mean is 4.5." }]] });
    const adapter = on.adapter();
    const { id } = await uploadFile(adapter.client, `${folder}/input.csv`);
    const prompt = createPythonTool({ container: { type: "auto", fileIds: [id] } }).attach({
      fileId: id,
    });
    const response = await adapter.evaluate(prompt, { session: new Session() });
    const [upload, asked] = on.requests;
    expect(on.requests).toHaveLength(2);
    expect(upload?.text).toContain('filename="input.csv"');
    expect(asked?.body).toMatchObject({
      tools: [{ container: { type: "auto", file_ids: [id] } }],
      input: [taskMessage, { role: "user", content: [{ type: "input_file", file_id: id }] }],
    });
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ stdout: "4.5\n" });
  });

  test("OpenAICodeInterpreterTool contract > Container lifecycle and files: a file with an unsupported type is rejected before it is uploaded", async () => {
    const folder = temporaryTree({ "setup.exe": "MZ" });
    const on = await startExample(reach);
    const { client } = on.adapter();
    await expect(uploadFile(client, `${folder}/setup.exe`)).rejects.toThrow(InvalidOptionError);
    await expect(uploadFile(client, `${folder}/setup.exe`)).rejects.toThrow('got "setup.exe"');
    expect(on.requests).toEqual([]);
  });

  const sunfish = (hostPath: string) => ({
    hostPath,
    mountPath: "workspace/sunfish",
    includeGlob: ["*.py", "*.md", "*.txt"],
    excludeGlob: ["**/__pycache__/**"],
    maxBytes: 600_000,
  });

  test("Usage examples > Registering OpenAICodeInterpreterTool: host mounts without allowed roots are rejected with a remedy before any request", async () => {
    const container = { type: "auto", hostMounts: [sunfish("sunfish")] } as const;
    const { error, requests } = await runFailure(
      reach,
      createPythonTool({ name: "openai_python", container }),
    );
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "example:python" });
    expect(String(error)).toContain(
      'Hosted tool "openai_python" config.container.allowedHostRoots must be provided with hostMounts, because these files are uploaded',
    );
    expect(String(error)).toContain('List the folders that mounts may come from, or pass "any"');
    expect(requests).toEqual([]);
  });

  test("Usage examples > Registering OpenAICodeInterpreterTool: code can read host mounts", async () => {
    const files = {
      "sunfish.py": "value = 4.5\n",
      "board.png": "no text",
      "notes.md": "# Chess\n",
    };
    const folder = temporaryTree({ ...files, "__pycache__/sunfish.py": "cached" });
    const read = `import os, sys
sys.path.insert(0, "/mnt/data/workspace/sunfish")
from sunfish import value
print(sorted(os.listdir("/mnt/data/workspace/sunfish")), value)`;
    const { response, requests } = await runExample(
      reach,
      createPythonTool({
        name: "openai_python",
        container: {
          ...{ type: "auto", memoryLimit: "4g" },
          ...{ hostMounts: [sunfish(folder)], allowedHostRoots: [folder] },
        },
      }),
      { script: [[{ code: read }], [{ say: "The value is 4.5." }]] },
    );
    expect(response.hostedOutputs.get("openai_python")).toMatchObject({
      stdout: "['notes.md', 'sunfish.py'] 4.5\n",
    });
    expect(requests[0]).toMatchObject({ path: "/containers", body: { memory_limit: "4g" } });
  });

  const missing = { type: "auto", fileIds: ["file-missing"] } as const;

  test("OpenAICodeInterpreterTool contract > Error handling: a container that the adapter cannot provision is reported before any request to the model", async () => {
    const folder = temporaryTree({ "a.txt": "A" });
    const mounted = { ...missing, hostMounts: [sunfish(folder)], allowedHostRoots: [folder] };
    const { error, requests } = await runFailure(reach, createPythonTool({ container: mounted }));
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /containers"]);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "example:python" });
    expect(String(error)).toContain("No such File object: file-missing");
  });

  test("OpenAICodeInterpreterTool contract > Error handling: a container that the provider cannot provision is its answer to the request", async () => {
    const script = [[{ code: "print(1)" }]];
    const { error, requests } = await runFailure(reach, createPythonTool({ container: missing }), {
      script,
    });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /responses"]);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "example:python" });
    expect(String(error)).toContain("No such File object: file-missing");
  });

  // Only OpenAI filters answers. The local provider has no content filter.
  const filtered = { incomplete_details: { reason: "content_filter" } };

  test("OpenAICodeInterpreterTool contract > Error handling: a filtered answer is reported by its finish reason", async () => {
    const { response } = await runCanned(reach, createPythonTool(), {
      script: [{ output: [message("The mean")], ...filtered }],
    });
    expect(response).toMatchObject({ text: "The mean", finishReason: "content_filter" });
    const refused = await runExample(reach, createPythonTool(), {
      script: [[{ refuse: "I will not." }]],
    });
    expect(refused.response.finishReason).toBe("content_filter");
  });

  const output = z.object({ mean: z.number() });
  const sections = [new MarkdownSection({ title: "Task", key: "task", template: request })];
  const mean = new Prompt(new PromptTemplate({ ns: "example", key: "mean", output, sections }));

  test("OpenAICodeInterpreterTool contract > Error handling: filtered structured output is an error", async () => {
    const { error } = await runCannedFailure(reach, mean, {
      script: [{ output: [message('{"mean":')], ...filtered }],
    });
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "response", promptName: "example:mean" });
    expect(String(error)).toContain("content filter blocked it");
  });

  test("OpenAICodeInterpreterTool contract > Error handling: refused structured output is an error", async () => {
    const { error } = await runFailure(reach, mean, { script: [[{ refuse: "I will not." }]] });
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "response", promptName: "example:mean" });
    expect(String(error)).toContain("content filter blocked it");
  });
});
