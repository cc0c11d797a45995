import { describe, expect, test } from "vitest";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { checkApart, HostedTool } from "./hosted-tool.ts";

const hosted = (kind: string, name: string, config = {}) =>
  new HostedTool({ kind, name, description: "Does things.", config });
const refusal = (...args: Parameters<typeof checkApart>) => {
  try {
    checkApart(...args);
  } catch (error) {
    return error;
  }
  return null;
};

describe("hosted tools", () => {
  test("of different kinds may stand side by side", () => {
    expect(refusal([hosted("a", "one"), hosted("b", "two")], "test:run")).toBeNull();
  });

  test("of one kind are refused, in phase render", () => {
    const error = refusal([hosted("a", "one"), hosted("b", "x"), hosted("a", "two")], "test:run");
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "render",
      promptName: "test:run",
      message:
        'There are two hosted tools of kind "a", "one", "two", and what comes back would not say whose it is: keep one',
    });
  });

  test("of one kind may stand side by side where the provider tells them apart", () => {
    const both = [hosted("a", "one"), hosted("a", "two")];
    expect(refusal(both, "test:run", ({ name }) => name)).toBeNull();
    expect(refusal(both, "test:run", () => "same")).toBeInstanceOf(PromptEvaluationError);
  });
});
