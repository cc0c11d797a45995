import { describe, expect, it } from "vitest";
import {
  codeInterpreterTool,
  fileSearchTool,
  type HostedTool,
  InvalidOptionError,
  type PromptEvaluationError,
  PromptValidationError,
  Session,
  shellTool,
} from "weakincentives";
import { testKey } from "../../../tests/support/openai-clients.ts";
import { createTaskPrompt, runScript } from "../../../tests/support/openai-run.ts";
import { message, reasoning } from "../../../tests/support/wire-server.ts";
import { OpenAIAdapter } from "../adapter.ts";
import type { OpenAIModelConfig } from "../model-config.ts";

const zdr = { zdrMode: true } as const;

function createAdapter(modelConfig: OpenAIModelConfig): OpenAIAdapter {
  const clientConfig = { apiKey: testKey };
  return new OpenAIAdapter({ model: "gpt-5.2", clientConfig, modelConfig, compaction: zdr });
}

describe("OpenAIAdapter in zdrMode", () => {
  it("sends store: false and requests encrypted reasoning", async () => {
    const { bodies } = await runScript([[message("Yes.")]], { adapter: { compaction: zdr } });
    expect(bodies).toMatchObject([{ store: false, include: ["reasoning.encrypted_content"] }]);
  });

  it.each([{ enabled: false, zdrMode: true }, zdr])(
    "sends store: false with %j",
    async (compaction) => {
      const { bodies } = await runScript([[message("Yes.")]], { adapter: { compaction } });
      expect(bodies).toMatchObject([{ store: false }]);
    },
  );

  it("accepts modelConfig.store: false", async () => {
    const adapter = { compaction: zdr, modelConfig: { store: false } };
    const { bodies } = await runScript([[message("Yes.")]], { adapter });
    expect(bodies).toMatchObject([{ store: false }]);
  });

  it("sends encrypted reasoning without ids, which the provider did not store", async () => {
    const script = [[reasoning("rs_1"), message("Yes.")], [message("Again.")]];
    const session = new Session();
    const run = await runScript(script, {
      adapter: { compaction: zdr },
      evaluate: { session },
    });
    expect(run.error).toBeNull();
    const again = await runScript([[message("Again.")]], {
      adapter: { compaction: zdr },
      evaluate: { session, continue: true },
    });
    const { input } = Object(again.bodies[0]);
    expect(input).toContainEqual(reasoning());
    expect(JSON.stringify(input)).not.toMatch(/"(?:rs|msg)_/);
  });

  it("rejects modelConfig.store: true", () => {
    const create = () => createAdapter({ store: true });
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow(
      "OpenAIAdapter.modelConfig.store must be omitted with compaction.zdrMode, because the provider would store responses, got true. Omit it.",
    );
  });

  it("rejects a prompt that the provider stores", () => {
    const create = () => createAdapter({ extraBody: { prompt: { id: "pmpt_1" } } });
    expect(create).toThrow(
      /OpenAIAdapter\.modelConfig\.extraBody\.prompt must be omitted with compaction\.zdrMode, because it refers to a prompt that the provider stores, got .*\. Omit it\.$/,
    );
  });

  it.each(["store", "previous_response_id", "conversation", "background"])(
    "rejects extraBody.%s",
    (key) => {
      const create = () => createAdapter({ extraBody: { [key]: "x" } });
      expect(create).toThrow(PromptValidationError);
      expect(create).toThrow(key);
    },
  );
});

/** Evaluates a prompt, whose contents are checked only then. */
async function evaluateWith(
  contents: { readonly hostedTools?: readonly HostedTool[]; readonly fileId?: string },
  compaction: object = zdr,
) {
  const { hostedTools = [], fileId } = contents;
  const plain = createTaskPrompt({ hostedTools });
  const prompt = fileId === undefined ? plain : plain.attach({ fileId });
  return await runScript([[message("Yes.")]], { adapter: { compaction }, prompt });
}

describe("a prompt in zdrMode", () => {
  it.each([
    [
      "file search",
      { hostedTools: [fileSearchTool({ vectorStoreIds: ["vs_1"] })] },
      'Hosted tool "file_search" must be omitted with compaction.zdrMode, because the provider stores files and vector stores',
    ],
    [
      "a code interpreter with uploaded files",
      { hostedTools: [codeInterpreterTool({ container: { type: "auto", fileIds: ["file-1"] } })] },
      'Hosted tool "code_interpreter" config fileIds must be omitted with compaction.zdrMode',
    ],
    [
      "a shell with uploaded files",
      { hostedTools: [shellTool({ environment: { type: "container", fileIds: ["file-1"] } })] },
      'Hosted tool "shell" config fileIds must be omitted with compaction.zdrMode',
    ],
    [
      "an uploaded file",
      { fileId: "file-1" },
      "attach(files)[0].fileId must be omitted with compaction.zdrMode",
    ],
  ] as const)(
    "is rejected with %s before the first request, unless allowStoredFiles is set",
    async (_what, contents, message) => {
      const { error, requests } = await evaluateWith(contents);
      expect(error).toMatchObject({ cause: expect.any(InvalidOptionError) });
      expect((error as PromptEvaluationError).message).toContain(message);
      expect((error as PromptEvaluationError).message).toContain("allowStoredFiles");
      expect(requests).toEqual([]);

      const allowed = await evaluateWith(contents, { ...zdr, allowStoredFiles: true });
      expect(allowed.error).toBeNull();
      expect(allowed.bodies).toMatchObject([{ store: false }]);
      const unrestricted = await evaluateWith(contents, {});
      expect(unrestricted.error).toBeNull();
    },
  );

  it("is rejected with the adapter's file search", async () => {
    const adapter = { compaction: zdr, hostedTools: { fileSearch: { vectorStoreIds: ["vs_1"] } } };
    const { error, requests } = await runScript([[message("Yes.")]], { adapter });
    expect(error?.message).toContain("because the provider stores files and vector stores");
    expect(requests).toEqual([]);
  });

  it("accepts a code interpreter with a new container", async () => {
    const { error } = await evaluateWith({
      hostedTools: [codeInterpreterTool({ container: { type: "auto", fileIds: [] } })],
    });
    expect(error).toBeNull();
  });
});
