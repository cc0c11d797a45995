import { describe, expect, test } from "vitest";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { checkOneToolPerKind, HostedTool } from "./hosted-tool.ts";

const createHostedTool = (kind: string, name: string, config = {}) =>
  new HostedTool({ kind, name, description: "Does things.", config });
const catchError = (...args: Parameters<typeof checkOneToolPerKind>) => {
  try {
    checkOneToolPerKind(...args);
  } catch (error) {
    return error;
  }
  return null;
};

describe("checkOneToolPerKind()", () => {
  test("accepts tools of different kinds", () => {
    expect(
      catchError([createHostedTool("a", "one"), createHostedTool("b", "two")], "test:run"),
    ).toBeNull();
  });

  test("rejects two tools of the same kind in phase render", () => {
    const error = catchError(
      [createHostedTool("a", "one"), createHostedTool("b", "x"), createHostedTool("a", "two")],
      "test:run",
    );
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      phase: "render",
      promptName: "test:run",
      message:
        'Hosted tools "one", "two" are both of kind "a", so their outputs would be ambiguous. Keep one.',
    });
  });

  test("accepts two tools of the same kind with different labels", () => {
    const both = [createHostedTool("a", "one"), createHostedTool("a", "two")];
    expect(catchError(both, "test:run", ({ name }) => name)).toBeNull();
    expect(catchError(both, "test:run", () => "same")).toBeInstanceOf(PromptEvaluationError);
  });
});
