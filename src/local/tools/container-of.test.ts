import { describe, expect, test } from "vitest";
import { turnState } from "../../../tests/local/turn-state.ts";
import { checkContainers, containerIn, containerOf } from "./container-of.ts";
import type { NewContainer } from "./ports.ts";

const code = { type: "code_interpreter_call", container_id: "cntr_code" };
const shell = {
  type: "shell_call",
  environment: { type: "container_reference", container_id: "cntr_shell" },
};

describe("the container of a tool", () => {
  test.each(["cntr_9", { type: "container_reference", container_id: "cntr_9" }])(
    "is the one it names: %j",
    async (place) => {
      const checked: string[] = [];
      expect(await containerOf(place, turnState({ tools: [], items: [code], checked }))).toBe(
        "cntr_9",
      );
      expect(checked).toEqual(["cntr_9"]);
    },
  );

  test("is else the newest that the conversation ran in", async () => {
    const auto = { type: "auto" };
    expect(await containerOf(auto, turnState({ tools: [], items: [shell, code] }))).toBe(
      "cntr_code",
    );
    expect(await containerOf(auto, turnState({ tools: [], items: [code, shell] }))).toBe(
      "cntr_shell",
    );
  });

  test("is else made once, as the tool says", async () => {
    const made: NewContainer[] = [];
    const state = turnState({ tools: [], made });
    const place = { type: "auto", memory_limit: "4g", file_ids: ["file-1"] };
    expect(await containerOf(place, state)).toBe("cntr_1");
    expect(await containerOf({ type: "auto" }, state)).toBe("cntr_1");
    expect(made).toEqual([{ name: "auto", memoryLimit: "4g", fileIds: ["file-1"] }]);
    expect(await containerOf(null, turnState({ tools: [], made }))).toBe("cntr_2");
    expect(made[1]).toEqual({ name: "auto" });
  });

  test("is in calls of code and commands, and in nothing else", () => {
    const calls = [code, shell, { type: "code_interpreter_call" }, { type: "shell_call" }, {}];
    expect(calls.map(containerIn)).toEqual(["cntr_code", "cntr_shell", null, null, null]);
  });

  test("is checked wherever a request names it", () => {
    const checked: string[] = [];
    const containers = { check: (id: string) => void checked.push(id) };
    const tools = [
      { type: "web_search" },
      { type: "code_interpreter", container: "cntr_1" },
      { type: "shell", environment: { type: "container_reference", container_id: "cntr_2" } },
    ];
    checkContainers(tools, [code, code, shell], containers);
    expect(checked).toEqual(["cntr_1", "cntr_2", "cntr_code"]);
  });
});
