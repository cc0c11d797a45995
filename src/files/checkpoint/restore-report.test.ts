import { expect, test } from "vitest";
import { SyncRefusal } from "../sync/sync-reason.ts";
import { RestoreReport } from "./restore-report.ts";
import { Stopped } from "./stop-flag.ts";

const failing = (error: Error) => () => {
  throw error;
};

test("what failed first is what is reported of a path", () => {
  const report = new RestoreReport();
  expect(report.attempt("a", failing(new SyncRefusal("first")), "otherwise")).toBe("otherwise");
  report.attempt("a", failing(new SyncRefusal("second")), undefined);
  expect(report.attempt("b", () => "done", "otherwise")).toBe("done");
  expect(report.result().failed).toEqual([{ path: "a", reason: "first" }]);
});

test("being told to stop is no failure of a path", () => {
  const report = new RestoreReport();
  const stopped = new Stopped("It was told to stop");
  expect(() => report.attempt("a", failing(stopped), undefined)).toThrow(stopped);
  expect(report.result().failed).toEqual([]);
});

test("paths are given as bytes, and read as text", () => {
  const report = new RestoreReport();
  const path = Buffer.from("é/b").toString("latin1");
  report.restored(path);
  report.restored(path);
  report.removed(path);
  expect(report.result()).toEqual({ restored: ["é/b"], removed: ["é/b"], failed: [] });
});
