import { describe, expect, test } from "vitest";
import { PromptEvaluationError, Tool } from "weakincentives";
import { type ClaudeSdk, loadSdk } from "../../src/claude/sdk.ts";
import { createEndingFixture, useTool } from "../support/claude/exit-fixture.ts";
import { textBlock } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

/** Loads the real SDK and adds options to its queries. */
async function loadSdkWith(options: object): Promise<ClaudeSdk> {
  const sdk = await loadSdk();
  return {
    query: (request) => sdk.query({ ...request, options: { ...request.options, ...options } }),
  };
}

describe.skipIf(sdkMissing)("A failing run on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("continues after a tool throws, and leaves nothing", async () => {
    const broken = new Tool({
      name: "broken",
      description: "Throws.",
      params: null,
      handler: (_params, { session }) => {
        session.dispatch({ type: "EndingNoted", note: "by a tool that throws" });
        throw new Error("a bug in the tool");
      },
    });
    const fixture = await createEndingFixture(
      [{ content: [useTool(broken)] }, { content: [textBlock("I see.")] }],
      {
        tools: [broken],
      },
    );
    expect((await fixture.run()).text).toBe("I see.");
    expect(fixture.server.requests[1]?.text).toContain("a bug in the tool");
    expect(fixture.readNotes()).toEqual(["before"]);
    await fixture.expectNothingLeft();
  });

  test("leaves nothing if the model's provider rejects the request", async () => {
    const fixture = await createEndingFixture([]);
    const error = await fixture.runToError();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error.message).toContain("API Error: 403 The script has ended");
    expect(error.phase).toBe("request");
    await fixture.expectNothingLeft();
  });

  test("leaves nothing if the SDK throws at the start", async () => {
    const sdk: ClaudeSdk = {
      query() {
        throw new Error("Native CLI binary not found.");
      },
    };
    const fixture = await createEndingFixture([], { adapter: { sdk } });
    const error = await fixture.runToError();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "request",
      message:
        "The Claude Agent SDK could not start (Native CLI binary not found). Install @anthropic-ai/claude-agent-sdk with its optional dependencies.",
    });
    await fixture.expectNothingLeft();
  });

  test("leaves nothing if the SDK's program is missing", async () => {
    const sdk = await loadSdkWith({ pathToClaudeCodeExecutable: "/no/such/claude" });
    const fixture = await createEndingFixture([], { adapter: { sdk } });
    const error = await fixture.runToError();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error.phase).toBe("request");
    expect(error.message).toMatch(
      /^The Claude Agent SDK could not start \(.* not found at \/no\/such\/claude.*\)\. Install @anthropic-ai\/claude-agent-sdk/,
    );
    await fixture.expectNothingLeft();
  });

  test("leaves nothing if the sandbox is not installed", async () => {
    const env = { PATH: "/no/such/folder" };
    const fixture = await createEndingFixture([], { isSandboxed: true, adapter: { env } });
    const error = await fixture.runToError();
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error.phase).toBe("request");
    expect(error.message).toContain("apt-get install bubblewrap socat");
    expect(fixture.server.requests).toEqual([]);
    await fixture.expectNothingLeft();
  });

  test("leaves nothing if a throttled run is canceled while it closes", async () => {
    const controller = new AbortController();
    const reason = new Error("I changed my mind");
    const fixture = await createEndingFixture(() => {
      void cancelAfterProcess();
      return { status: 429, type: "rate_limit_error", message: "Slow down." };
    });
    async function cancelAfterProcess(): Promise<void> {
      while (fixture.findSdkProcess() !== null)
        await new Promise((resolve) => setTimeout(resolve, 1));
      controller.abort(reason);
    }
    expect(await fixture.runToError({ signal: controller.signal })).toBe(reason);
    await fixture.expectNothingLeft();
  });
});
