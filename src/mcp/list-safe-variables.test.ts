import { DEFAULT_INHERITED_ENV_VARS } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { listSafeVariables } from "./list-safe-variables.ts";

test("listSafeVariables() selects what the MCP client selects, and no functions of a shell", () => {
  const all = Object.fromEntries([...DEFAULT_INHERITED_ENV_VARS, "KEY"].map((name) => [name, "x"]));
  expect(Object.keys(listSafeVariables(all))).toEqual(DEFAULT_INHERITED_ENV_VARS);
  expect(listSafeVariables({ PATH: "() { :; }" })).toEqual({});
});

test("listSafeVariables() selects the variables that programs on Windows need", () => {
  const all = { PATH: "C:\\", SYSTEMROOT: "C:\\Windows", SHELL: "cmd", OPENAI_API_KEY: "key" };
  expect(listSafeVariables(all, "win32")).toEqual({ PATH: "C:\\", SYSTEMROOT: "C:\\Windows" });
});
