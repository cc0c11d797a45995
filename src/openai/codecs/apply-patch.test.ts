import { describe, expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import type { WireItem } from "../wire.ts";
import { applyPatchCodec } from "./apply-patch.ts";

const filesystem = new InMemoryFilesystem();
const tool = applyPatchTool({}, { name: "patch", filesystem });
const parse = (...items: WireItem[]) => applyPatchCodec.parseOutput(items, tool);

const asked = (call_id: string, operation: unknown): WireItem => ({
  type: "apply_patch_call",
  id: `apc_${call_id}`,
  call_id,
  status: "completed",
  operation,
});
const create = { type: "create_file", path: "a.txt", diff: "+a\n" };
const remove = { type: "delete_file", path: "b.txt" };
const answer = (call_id: string, status: unknown, output?: unknown): WireItem => ({
  type: "apply_patch_call_output",
  call_id,
  status,
  output,
});

test("serialize sends the bare tool", () => {
  expect(applyPatchCodec.kind).toBe("apply_patch");
  expect(applyPatchCodec.serialize(tool, { model: "gpt-5", containerId: "cntr_1" })).toEqual({
    type: "apply_patch",
  });
});

test("the provider runs no call itself", () => {
  expect(applyPatchCodec.calls?.([asked("call_1", create)], tool)).toEqual([]);
});

describe("parseOutput", () => {
  test("is null where nothing was to be patched", () => {
    expect(parse()).toBeNull();
    expect(parse(answer("call_1", "completed"))).toBeNull();
  });

  test("has every call with what became of it", () => {
    expect(
      parse(
        asked("call_1", create),
        asked("call_2", { type: "update_file", path: "b.txt", diff: "@@" }),
        asked("call_3", remove),
        answer("call_1", "completed", "Created"),
        answer("call_2", "failed", "It does not fit"),
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
  ])("leaves out an operation that is %j", (operation) => {
    expect(parse(asked("call_1", operation), asked("call_2", remove))?.calls).toEqual([
      expect.objectContaining({ callId: "call_2" }),
    ]);
    expect(parse(asked("call_1", operation))).toEqual({ calls: [] });
  });

  test("bears answers with odd fields", () => {
    expect(parse(asked("call_1", { type: "create_file" }), answer("call_1", 5, {}))).toEqual({
      calls: [{ callId: "call_1", operation: "create", path: "", success: false, message: "" }],
    });
  });
});

describe("calls that are asked of us", () => {
  test("are those without an answer, and may be undone on the tool's own files", () => {
    const open = asked("call_2", create);
    const found = applyPatchCodec.asked?.(
      [asked("call_1", remove), open, answer("call_1", "completed")],
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
        run: expect.any(Function),
      },
    ]);
    expect(found?.[0]?.raw).toBe(open);
    expect(Object.keys(applyPatchCodec.params ?? {}).toSorted()).toEqual(
      Object.keys(found?.[0]?.params ?? {}).toSorted(),
    );
  });

  test("touch nothing of their own where the workspace's files are meant", () => {
    const [call] = applyPatchCodec.asked?.([asked("call_1", remove)], applyPatchTool()) ?? [];
    expect(call?.touches).toBeUndefined();
    expect(call?.params).toEqual({ operation: "delete", path: "b.txt" });
  });

  test("tell an unknown operation in the provider's word", () => {
    const odd = asked("call_1", { type: "rename_file", path: "a", to: "b" });
    expect(applyPatchCodec.asked?.([odd], tool)[0]?.params).toEqual({
      operation: "rename_file",
      path: "a",
    });
    expect(applyPatchCodec.asked?.([asked("call_1", null)], tool)[0]?.params).toEqual({
      operation: "",
      path: "",
    });
  });
});

test.each([
  [true, "completed"],
  [false, "failed"],
])("the answer to a call with success %s is %s", (success, status) => {
  const call = { name: "patch", kind: "apply_patch", callId: "call_1", params: {}, raw: {} };
  const done = { ...call, output: null, success, message: "So it is." };
  expect(applyPatchCodec.answer?.(done, tool)).toEqual({
    type: "apply_patch_call_output",
    call_id: "call_1",
    status,
    output: "So it is.",
  });
});
