import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { checkKeys } from "../../tools/config-checks.ts";
import {
  checkSyncOptions,
  type WorkspaceSectionOptions,
  workspaceChecks,
} from "./workspace-options.ts";

const checkOptions = (options: object) =>
  checkKeys<WorkspaceSectionOptions>({ session: new Session(), ...options }, "S", workspaceChecks);

describe("workspaceChecks", () => {
  test.each([
    [
      { session: undefined },
      "S.session must be a Session, got undefined. Pass the session that you evaluate with.",
    ],
    [{ session: { id: "x" } }, "S.session must be a Session"],
    [{ syncOnCleanup: "yes" }, "S.syncOnCleanup must be a boolean"],
    [{ syncDestination: "" }, "S.syncDestination must be a non-blank single-line string"],
    [{ syncPolicy: "hourly" }, "S.syncPolicy must be one of"],
    [{ onConflict: "merge" }, "S.onConflict must be one of"],
    [{ acceptsOverrides: 1 }, "S.acceptsOverrides must be a boolean"],
    [{ mount: [] }, 'Did you mean "mounts"?'],
  ])("reject %o", (options, message) => {
    expect(() => checkOptions(options)).toThrow(PromptValidationError);
    expect(() => checkOptions(options)).toThrow(message);
  });

  test("require only the session", () => {
    expect(() => checkOptions({})).not.toThrow();
    expect(() =>
      checkOptions({ syncPolicy: "eachTurn", syncDestination: "out", key: "k" }),
    ).not.toThrow();
  });
});

describe("checkSyncOptions()", () => {
  test.each([
    [
      { syncOnCleanup: false, syncPolicy: "cleanup" },
      'S.syncOnCleanup must be true or omitted with syncPolicy: "cleanup", got false. Set only syncPolicy.',
    ],
    [
      { syncOnCleanup: false, syncPolicy: "eachTurn" },
      'S.syncOnCleanup must be true or omitted with syncPolicy: "eachTurn", got false. Set only syncPolicy.',
    ],
    [
      { syncOnCleanup: true, syncPolicy: "never" },
      'S.syncOnCleanup must be false or omitted with syncPolicy: "never", got true. Set only syncPolicy.',
    ],
  ] as const)("rejects the contradiction %o", (options, message) => {
    expect(() => checkSyncOptions(options, "S")).toThrow(PromptValidationError);
    expect(() => checkSyncOptions(options, "S")).toThrow(message);
  });

  test.each([
    {},
    { syncOnCleanup: true },
    { syncOnCleanup: false },
    { syncPolicy: "never" },
    { syncOnCleanup: false, syncPolicy: "never" },
    { syncOnCleanup: true, syncPolicy: "cleanup" },
    { syncOnCleanup: true, syncPolicy: "eachTurn" },
  ] as const)("accepts %o", (options) => {
    expect(() => checkSyncOptions(options, "S")).not.toThrow();
  });
});
