import { expect, test } from "vitest";
import {
  FilesystemError,
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../../base/filesystem-error.ts";
import { fromFailure, toFailure } from "./worker-failure.ts";

test.each([
  new FilesystemError("ENOENT", 'a "b"', "is gone: look again", new Error("why")),
  new FilesystemError("EACCES", "a", "is shut"),
  new WorkspaceSecurityError("out"),
  new WorkspaceBudgetExceededError("over"),
  new RangeError("odd"),
])("an error keeps its class, message and fields across threads: %s", (error) => {
  const crossed = fromFailure(structuredClone(toFailure(error)));
  expect(crossed).toBeInstanceOf(error.constructor);
  expect(crossed).toMatchObject({ name: error.name, message: error.message });
  const { code, path, cause } = { code: undefined, path: undefined, ...error, cause: error.cause };
  expect(crossed).toMatchObject({ ...(code && { code, path }), ...(cause ? { cause } : {}) });
});
