import { describe, expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import type { WireItem } from "../wire.ts";
import { applyPatchCodec } from "./apply-patch.ts";

const filesystem = new InMemoryFilesystem();
const tool = applyPatchTool({}, { name: "patch", filesystem });
const parse = (...items: WireItem[]) => applyPatchCodec.parseOutput(items, tool);

const createCall = (call_id: string, operation: unknown): WireItem => ({
  type: "apply_patch_call",
  id: `apc_${call_id}`,
  call_id,
  status: "completed",
  operation,
});
const create = { type: "create_file", path: "a.txt", diff: "+a\n" };
const remove = { type: "delete_file", path: "b.txt" };
const createOutput = (call_id: string, status: unknown, output?: unknown): WireItem => ({
  type: "apply_patch_call_output",
  call_id,
  status,
  output,
});

test("applyPatchCodec.serialize() sends only the type", () => {
  expect(applyPatchCodec.kind).toBe("apply_patch");
  expect(applyPatchCodec.serialize(tool, { model: "gpt-5", containerId: "cntr_1" })).toEqual({
    type: "apply_patch",
  });
});

test("applyPatchCodec.calls() is empty: the provider runs no calls", () => {
  expect(applyPatchCodec.calls?.([createCall("call_1", create)], tool)).toEqual([]);
});

describe("applyPatchCodec.parseOutput()", () => {
  test("returns null without calls", () => {
    expect(parse()).toBeNull();
    expect(parse(createOutput("call_1", "completed"))).toBeNull();
  });

  test("returns every call with its outcome", () => {
    expect(
      parse(
        createCall("call_1", create),
        createCall("call_2", { type: "update_file", path: "b.txt", diff: "@@" }),
        createCall("call_3", remove),
        createOutput("call_1", "completed", "Created"),
        createOutput("call_2", "failed", "It does not fit"),
      ),
    ).toEqual({
      calls: [
        { callId: "call_1", operation: "create", path: "a.txt", success: true, message: "Created" },
        {
          callId: "call_2",
          operation: "update",
          path: "b.txt",
          success: false,
          message: "It does not fit",
        },
        { callId: "call_3", operation: "delete", path: "b.txt", success: false, message: "" },
      ],
    });
  });

  test.each([
    undefined,
    null,
    "x",
    [],
    {},
    { type: "rename_file", path: "a" },
    { type: "toString" },
  ])("omits a call with the operation %j", (operation) => {
    expect(parse(createCall("call_1", operation), createCall("call_2", remove))?.calls).toEqual([
      expect.objectContaining({ callId: "call_2" }),
    ]);
    expect(parse(createCall("call_1", operation))).toEqual({ calls: [] });
  });

  test("tolerates outputs with invalid fields", () => {
    expect(
      parse(createCall("call_1", { type: "create_file" }), createOutput("call_1", 5, {})),
    ).toEqual({
      calls: [{ callId: "call_1", operation: "create", path: "", success: false, message: "" }],
    });
  });
});

describe("applyPatchCodec.delegatedCalls()", () => {
  test("returns unanswered calls that touch the tool's file system", () => {
    const open = createCall("call_2", create);
    const found = applyPatchCodec.delegatedCalls?.(
      [createCall("call_1", remove), open, createOutput("call_1", "completed")],
      tool,
    );
    expect(found).toEqual([
      {
        name: "patch",
        kind: "apply_patch",
        callId: "call_2",
        params: { operation: "create", path: "a.txt", diff: "+a\n" },
        touches: [filesystem],
        raw: open,
        needsApproval: false,
        run: expect.any(Function),
      },
    ]);
    expect(found?.[0]?.raw).toBe(open);
    expect(Object.keys(applyPatchCodec.params ?? {}).toSorted()).toEqual(
      Object.keys(found?.[0]?.params ?? {}).toSorted(),
    );
  });

  test("returns calls without touches if the tool has no file system", () => {
    const [call] =
      applyPatchCodec.delegatedCalls?.([createCall("call_1", remove)], applyPatchTool()) ?? [];
    expect(call?.touches).toBeUndefined();
    expect(call?.params).toEqual({ operation: "delete", path: "b.txt" });
  });

  test("reports an unknown operation by the provider's name", () => {
    const odd = createCall("call_1", { type: "rename_file", path: "a", to: "b" });
    expect(applyPatchCodec.delegatedCalls?.([odd], tool)[0]?.params).toEqual({
      operation: "rename_file",
      path: "a",
    });
    expect(applyPatchCodec.delegatedCalls?.([createCall("call_1", null)], tool)[0]?.params).toEqual(
      {
        operation: "",
        path: "",
      },
    );
  });
});

test.each([
  [true, "completed"],
  [false, "failed"],
])("applyPatchCodec.answer() for success %s has the status %s", (success, status) => {
  const call = { name: "patch", kind: "apply_patch", callId: "call_1", params: {}, raw: {} };
  const done = { ...call, output: null, success, message: "So it is." };
  expect(applyPatchCodec.answer?.(done, tool)).toEqual({
    type: "apply_patch_call_output",
    call_id: "call_1",
    status,
    output: "So it is.",
  });
});
