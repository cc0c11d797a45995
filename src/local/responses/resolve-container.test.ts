import { describe, expect, test } from "vitest";
import { startProviderFixture } from "../../../tests/support/local/provider-fixture.ts";
import { createTurnState } from "../../../tests/support/local/turn-state.ts";
import type { WireItem } from "../../openai/wire.ts";
import { builtInCatalog } from "../tools/index.ts";
import type { ContainerService, NewContainer } from "../tools/tool-services.ts";
import {
  checkContainers as checkAll,
  resolveContainer as containerOf,
} from "./resolve-container.ts";

const findContainer = (item: WireItem) => builtInCatalog.findContainer(item);
const checkContainers = (
  tools: readonly WireItem[],
  items: readonly WireItem[],
  containers: Pick<ContainerService, "check">,
) => checkAll(tools, items, { containers, catalog: builtInCatalog });

const code = { type: "code_interpreter_call", container_id: "cntr_code" };
const shell = {
  type: "shell_call",
  environment: { type: "container_reference", container_id: "cntr_shell" },
};

describe("resolveContainer()", () => {
  test.each(["cntr_9", { type: "container_reference", container_id: "cntr_9" }])(
    "returns the container that the tool names: %j",
    async (place) => {
      const checked: string[] = [];
      expect(await containerOf(place, createTurnState({ tools: [], items: [code], checked }))).toBe(
        "cntr_9",
      );
      expect(checked).toEqual(["cntr_9"]);
    },
  );

  test("returns the newest container of the conversation if the tool names none", async () => {
    const auto = { type: "auto" };
    expect(await containerOf(auto, createTurnState({ tools: [], items: [shell, code] }))).toBe(
      "cntr_code",
    );
    expect(await containerOf(auto, createTurnState({ tools: [], items: [code, shell] }))).toBe(
      "cntr_shell",
    );
  });

  test("creates one container per turn with the tool's options if there is none", async () => {
    const made: NewContainer[] = [];
    const state = createTurnState({ tools: [], created: made });
    const policy = { type: "disabled" };
    const place = {
      type: "auto",
      memory_limit: "4g",
      file_ids: ["file-1"],
      network_policy: policy,
    };
    expect(await containerOf(place, state)).toBe("cntr_1");
    expect(await containerOf({ type: "auto" }, state)).toBe("cntr_1");
    const as = { name: "auto", memoryLimit: "4g", fileIds: ["file-1"], networkPolicy: policy };
    expect(made).toEqual([as]);
    expect(await containerOf(null, createTurnState({ tools: [], created: made }))).toBe("cntr_2");
    expect(made[1]).toEqual({ name: "auto" });
  });

  test("finds containers only in code and shell calls", () => {
    const calls = [code, shell, { type: "code_interpreter_call" }, { type: "shell_call" }, {}];
    expect(calls.map(findContainer)).toEqual(["cntr_code", "cntr_shell", null, null, null]);
  });

  test("checks every container that a request names", () => {
    const checked: string[] = [];
    const containers = { check: (id: string) => void checked.push(id) };
    const tools = [
      { type: "web_search" },
      { type: "code_interpreter", container: "cntr_1" },
      { type: "shell", environment: { type: "container_reference", container_id: "cntr_2" } },
    ];
    const added = { type: "additional_tools", tools: [{ type: "shell" }, { container: "cntr_3" }] };
    checkContainers(tools, [code, code, shell, added], containers);
    expect(checked).toEqual(["cntr_1", "cntr_2", "cntr_3", "cntr_code"]);
  });
});

describe("checkContainers()", () => {
  test("does not take the environment of a computer for a container", () => {
    const display = { display_width: 1, display_height: 1 };
    const computer = { type: "computer_use_preview", ...display, environment: "browser" };
    const checked: string[] = [];
    const containers = { check: (id: string) => void checked.push(id) };
    checkContainers([computer], [{ type: "additional_tools", tools: [computer] }], containers);
    expect(checked).toEqual([]);
  });

  const python = (more: object) => ({
    type: "code_interpreter",
    container: { type: "auto", ...more },
  });
  const shell = (more: object) => ({
    type: "shell",
    environment: { type: "container_auto", ...more },
  });
  const nobody = {
    check: () => {
      throw new Error("None was named.");
    },
  };
  const allowlist = { network_policy: { type: "allowlist", allowed_domains: ["a.b"] } };
  const skills = { skills: [] };

  test.each([
    ["a network", python(allowlist), "container.network_policy.type", "invalid_value"],
    ["a network", shell(allowlist), "environment.network_policy.type", "invalid_value"],
    ["skills", shell(skills), "environment.skills", "unsupported_parameter"],
  ])("rejects a container with %s, like POST /v1/containers: %j", (_what, tool, at, code) => {
    const expectProblem = (param: string) => expect.objectContaining({ status: 400, param, code });
    expect(() => checkContainers([{ type: "web_search" }, tool], [], nobody)).toThrow(
      expectProblem(`tools[1].${at}`),
    );
    const added = { type: "additional_tools", tools: [tool] };
    expect(() => checkContainers([], [added], nobody)).toThrow(
      expectProblem(`additional_tools.tools[0].${at}`),
    );
  });

  test("rejects unavailable options before the model is called", async () => {
    const { ask } = await startProviderFixture(() => {
      throw new Error("The model was asked.");
    });
    const tools = [{ type: "web_search" }, python(allowlist)];
    const param = "tools[1].container.network_policy.type";
    for (const stream of [false, true]) {
      expect(await ask("POST /responses", { model: "any", input: "Hi.", tools, stream })).toEqual({
        status: 400,
        headers: expect.anything(),
        body: {
          error: {
            message: `Containers of the local provider have no network: '${param}' must be 'disabled'.`,
            type: "invalid_request_error",
            param,
            code: "invalid_value",
          },
        },
      });
    }
  });

  test("accepts a disabled network, and skills of a local environment", () => {
    const tools = [
      python({ network_policy: { type: "disabled" } }),
      shell({ network_policy: null }),
      { type: "shell", environment: { type: "local", ...skills } },
      { type: "shell", environment: null },
    ];
    expect(() => checkContainers(tools, [], nobody)).not.toThrow();
  });
});
