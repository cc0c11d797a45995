import { describe, expect, test } from "vitest";
import { createRealContext } from "../../../tests/support/tool-context.ts";
import { type McpApprovalRequest, type McpApprover, mcpTool } from "../../tools/hosted/mcp.ts";
import type { WireItem } from "../wire.ts";
import { mcpCodec } from "./mcp.ts";

const config = {
  serverLabel: "dice",
  serverUrl: "https://dice.example/mcp",
  authorization: "s3cret-token",
  headers: { "X-Key": "s3cret-header" },
};
const createTool = (approve?: McpApprover) => mcpTool(config, { name: "games", approve });
const request: WireItem = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  server_label: "dice",
  name: "bet",
  arguments: '{"all":true}',
};

/** Runs the only approval request and returns the answer for the provider. */
async function decide(approve?: McpApprover) {
  const tool = createTool(approve);
  const [call] = mcpCodec.delegatedCalls?.([request], tool) ?? [];
  if (!call) throw new Error("There is no approval request");
  const { run, ...known } = call;
  const outcome = await call.run(await createRealContext());
  return { outcome, answer: mcpCodec.answer?.({ ...known, ...outcome }, tool) };
}

describe("an MCP approval request", () => {
  test("is a delegated call with its own id", () => {
    const found = mcpCodec.delegatedCalls?.([request], createTool());
    expect(found).toEqual([
      {
        name: "games",
        kind: "mcp",
        callId: "mcpr_1",
        params: { name: "bet", serverLabel: "dice", arguments: '{"all":true}' },
        raw: request,
        needsApproval: true,
        run: expect.any(Function),
      },
    ]);
    expect(found?.[0]?.raw).toBe(request);
  });

  test("is delegated once, and only to the tool with its server label", () => {
    const other = { ...request, id: "mcpr_2", server_label: "other" };
    const answered = {
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: true,
    };
    const made = { type: "mcp_call", server_label: "dice", approval_request_id: "mcpr_1" };
    expect(mcpCodec.delegatedCalls?.([request, other, answered], createTool())).toEqual([]);
    expect(mcpCodec.delegatedCalls?.([request, made], createTool())).toEqual([]);
  });

  test("is approved by true, also from an async callback", async () => {
    const seen: McpApprovalRequest[] = [];
    const { outcome, answer } = await decide(async (given) => {
      seen.push(given);
      return true;
    });
    expect(seen).toEqual([
      { id: "mcpr_1", serverLabel: "dice", name: "bet", arguments: '{"all":true}' },
    ]);
    expect(outcome).toEqual({
      output: null,
      success: true,
      message: 'Approved the call to "bet" on "dice"',
    });
    expect(answer).toEqual({
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: true,
    });
  });

  test.each([false, undefined, null, 1, "yes", {}])("is denied by %j", async (verdict) => {
    const message = 'Did not call "bet" on "dice": the call was not approved';
    const { outcome, answer } = await decide(() => verdict as boolean);
    expect(outcome).toEqual({ output: null, success: false, message });
    expect(answer).toEqual({
      type: "mcp_approval_response",
      approval_request_id: "mcpr_1",
      approve: false,
      reason: message,
    });
  });

  test.each<[string, McpApprover]>([
    [
      "throws",
      () => {
        throw new Error("nobody home");
      },
    ],
    ["rejects", () => Promise.reject(new Error("nobody home"))],
  ])("is denied if the callback %s", async (_, approve) => {
    const message = 'Did not call "bet" on "dice": the approval failed: nobody home';
    const { outcome, answer } = await decide(approve);
    expect(outcome).toEqual({ output: null, success: false, message });
    expect(answer).toMatchObject({ approve: false, reason: message });
  });

  test("needs the approval of the evaluation without a callback, and secrets are not revealed", async () => {
    const [withCallback] =
      mcpCodec.delegatedCalls?.(
        [request],
        createTool(() => true),
      ) ?? [];
    expect(withCallback?.needsApproval).toBe(false);
    const { outcome, answer } = await decide();
    const message = 'Approved the call to "bet" on "dice"';
    expect(outcome).toEqual({ output: null, success: true, message });
    expect(JSON.stringify([outcome, answer])).not.toContain("s3cret");
  });
});
