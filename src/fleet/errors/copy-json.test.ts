import { expect, test } from "vitest";
import { copyJson, cutText } from "./copy-json.ts";
import { rebuildError } from "./rebuild-error.ts";
import { RunDeadLetteredError } from "./run-dead-lettered-error.ts";
import { serializeError } from "./serialize-error.ts";

test("cutText() does not cut within a pair of surrogates", () => {
  expect(cutText("ab\u{1F989}", 4)).toBe("ab\u{1F989}");
  expect(cutText("ab\u{1F989}c", 4)).toBe("ab…");
  expect(cutText("abcdef", 4)).toBe("abc…");
});

test("copyJson() omits values for which there is no room", () => {
  expect(copyJson("text", { left: 3 })).toBeUndefined();
  expect(copyJson(["a", "b"], { left: 12 })).toEqual(["a"]);
});

test("rebuildError() accepts partial results of another shape, and keeps their cost", () => {
  const store = (partial: unknown) =>
    JSON.stringify({
      ...{ name: "PromptEvaluationError", base: "PromptEvaluationError", message: "Failed." },
      fields: { promptName: "p", phase: "tool", partial },
    });
  expect(rebuildError(store(3))).toMatchObject({ partial: { text: null, turns: 0 } });
  expect(rebuildError(store({ costUsd: 0.5 }))).toMatchObject({ partial: { costUsd: 0.5 } });
});

test("serializeError() stores an error without frames", () => {
  const error = Object.assign(new Error("Flat."), { stack: "Error: Flat." });
  expect(JSON.parse(serializeError(error))).not.toHaveProperty("frames");
});

test("RunDeadLetteredError has no last error if the attempts left none", () => {
  const { message } = new RunDeadLetteredError("r", { attempts: 5 });
  expect(message).toMatch(/and call fleet\.retry\.$/);
});
