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
import { promptWith, runOn } from "../../../tests/support/openai-run.ts";
import { message, reasoning } from "../../../tests/support/wire-server.ts";
import { OpenAIAdapter } from "../adapter.ts";
import type { OpenAIModelConfig } from "../model-config.ts";

const zdr = { zdrMode: true } as const;

function adapterWith(modelConfig: OpenAIModelConfig): OpenAIAdapter {
  const clientConfig = { apiKey: testKey };
  return new OpenAIAdapter({ model: "gpt-5.2", clientConfig, modelConfig, compaction: zdr });
}

describe("an adapter whose provider keeps nothing", () => {
  it("says so in every request, and asks for reasoning that it can send back itself", async () => {
    const { bodies } = await runOn([[message("Yes.")]], { adapter: { compaction: zdr } });
    expect(bodies).toMatchObject([{ store: false, include: ["reasoning.encrypted_content"] }]);
  });

  it.each([{ enabled: false, zdrMode: true }, zdr])("does so with %j", async (compaction) => {
    const { bodies } = await runOn([[message("Yes.")]], { adapter: { compaction } });
    expect(bodies).toMatchObject([{ store: false }]);
  });

  it("takes modelConfig.store where that says the same", async () => {
    const adapter = { compaction: zdr, modelConfig: { store: false } };
    const { bodies } = await runOn([[message("Yes.")]], { adapter });
    expect(bodies).toMatchObject([{ store: false }]);
  });

  it("sends sealed reasoning back without the id that the provider has forgotten", async () => {
    const script = [[reasoning("rs_1"), message("Yes.")], [message("Again.")]];
    const session = new Session();
    const run = await runOn(script, {
      adapter: { compaction: zdr },
      evaluate: { session },
    });
    expect(run.error).toBeNull();
    const again = await runOn([[message("Again.")]], {
      adapter: { compaction: zdr },
      evaluate: { session, continue: true },
    });
    const { input } = Object(again.bodies[0]);
    expect(input).toContainEqual(reasoning());
    expect(JSON.stringify(input)).not.toMatch(/"(?:rs|msg)_/);
  });

  it("is not made with a config that has responses kept", () => {
    const make = () => adapterWith({ store: true });
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(
      "OpenAIAdapter.modelConfig.store must be left out with compaction.zdrMode, because responses are kept, got true. Leave it out",
    );
  });

  it("is not made with a prompt that is kept there", () => {
    const make = () => adapterWith({ extraBody: { prompt: { id: "pmpt_1" } } });
    expect(make).toThrow(
      /OpenAIAdapter\.modelConfig\.extraBody\.prompt must be left out with compaction\.zdrMode, because it stands for something that is kept.*leave it out/,
    );
  });

  it.each(["store", "previous_response_id", "conversation", "background"])(
    "is not made with extraBody.%s, with or without it",
    (key) => {
      const make = () => adapterWith({ extraBody: { [key]: "x" } });
      expect(make).toThrow(PromptValidationError);
      expect(make).toThrow(key);
    },
  );
});

/** The adapter's config apart: what a prompt brings is only known then. */
async function refusalOf(
  given: { readonly hostedTools?: readonly HostedTool[]; readonly fileId?: string },
  compaction: object = zdr,
) {
  const { hostedTools = [], fileId } = given;
  const plain = promptWith({ hostedTools });
  const prompt = fileId === undefined ? plain : plain.attach({ fileId });
  return await runOn([[message("Yes.")]], { adapter: { compaction }, prompt });
}

describe("a prompt for a provider that keeps nothing", () => {
  it.each([
    [
      "file search",
      { hostedTools: [fileSearchTool({ vectorStoreIds: ["vs_1"] })] },
      'Hosted tool "file_search" must be left out with compaction.zdrMode, because files and vector stores are kept',
    ],
    [
      "a code interpreter with files of the provider's",
      { hostedTools: [codeInterpreterTool({ container: { type: "auto", fileIds: ["file-1"] } })] },
      'Hosted tool "code_interpreter" config fileIds must be left out with compaction.zdrMode',
    ],
    [
      "a shell with files of the provider's",
      { hostedTools: [shellTool({ environment: { type: "container", fileIds: ["file-1"] } })] },
      'Hosted tool "shell" config fileIds must be left out with compaction.zdrMode',
    ],
    [
      "a file that was uploaded",
      { fileId: "file-1" },
      "attach(files)[0].fileId must be left out with compaction.zdrMode",
    ],
  ] as const)("is refused with %s, before anything is sent", async (_what, given, said) => {
    const { error, requests } = await refusalOf(given);
    expect(error).toMatchObject({ cause: expect.any(InvalidOptionError) });
    expect((error as PromptEvaluationError).message).toContain(said);
    expect((error as PromptEvaluationError).message).toContain("allowStoredFiles");
    expect(requests).toEqual([]);

    const allowed = await refusalOf(given, { ...zdr, allowStoredFiles: true });
    expect(allowed.error).toBeNull();
    expect(allowed.bodies).toMatchObject([{ store: false }]);
    const anyway = await refusalOf(given, {});
    expect(anyway.error).toBeNull();
  });

  it("is refused with the adapter's own file search as well", async () => {
    const adapter = { compaction: zdr, hostedTools: { fileSearch: { vectorStoreIds: ["vs_1"] } } };
    const { error, requests } = await runOn([[message("Yes.")]], { adapter });
    expect(error?.message).toContain("because files and vector stores are kept");
    expect(requests).toEqual([]);
  });

  it("takes code whose container is made for it", async () => {
    const { error } = await refusalOf({
      hostedTools: [codeInterpreterTool({ container: { type: "auto", fileIds: [] } })],
    });
    expect(error).toBeNull();
  });
});
