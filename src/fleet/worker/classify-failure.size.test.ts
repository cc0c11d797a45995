import { expect, test } from "vitest";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { WorkspaceBudgetExceededError } from "../../base/filesystem-error.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { Fleet } from "../fleet.ts";
import { classifyFailure } from "./classify-failure.ts";

test("a run whose files do not fit into the blob store fails at once", () => {
  const cause = new SessionStoreError("Not stored.", {
    cause: new WorkspaceBudgetExceededError("The files have 300 MiB."),
  });
  const error = new PromptEvaluationError("Failed.", { promptName: "p", phase: "store", cause });
  expect(classifyFailure(error, { standing: null, maxTurns: 50 })).toBe("fail");
});

test("a run whose files do not fit fails at once, even if it is not the evaluation that stores them", () => {
  const error = new SessionStoreError("Not stored.", {
    cause: new WorkspaceBudgetExceededError("The files have 300 MiB."),
  });
  expect(classifyFailure(error, { standing: null, maxTurns: 50 })).toBe("fail");
});

test.each(["", "a\0b", 7 as never])("a run is not cancelled for the reason %j", async (reason) => {
  const cancel = Fleet.prototype.cancel.bind(Object.create(Fleet.prototype));
  await expect(cancel("id", reason)).rejects.toThrow(
    "Fleet.cancel(reason) must be 1-2000 characters without NUL",
  );
});
