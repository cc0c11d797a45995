import { expect, test } from "vitest";
import { SyncError } from "../sync/sync-failure.ts";
import { RestoreReport } from "./restore-report.ts";
import { StoppedError } from "./stop-flag.ts";

const throwError = (error: Error) => () => {
  throw error;
};

test("RestoreReport reports the first failure of a path", () => {
  const report = new RestoreReport();
  expect(report.catchFailure("a", throwError(new SyncError("first")), "otherwise")).toBe(
    "otherwise",
  );
  report.catchFailure("a", throwError(new SyncError("second")), undefined);
  expect(report.catchFailure("b", () => "done", "otherwise")).toBe("done");
  expect(report.toResult().failed).toEqual([{ path: "a", reason: "first" }]);
});

test("RestoreReport rethrows StoppedError", () => {
  const report = new RestoreReport();
  const stopped = new StoppedError("A stop was requested");
  expect(() => report.catchFailure("a", throwError(stopped), undefined)).toThrow(stopped);
  expect(report.toResult().failed).toEqual([]);
});

test("RestoreReport converts paths from bytes to text", () => {
  const report = new RestoreReport();
  const path = Buffer.from("é/b").toString("latin1");
  report.addRestored(path);
  report.addRestored(path);
  report.addRemoved(path);
  expect(report.toResult()).toEqual({ restored: ["é/b"], removed: ["é/b"], failed: [] });
});
