import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { checkKeys } from "../../tools/config-checks.ts";
import { type WorkspaceSectionOptions, workspaceChecks } from "./workspace-options.ts";

const check = (options: object) =>
  checkKeys<WorkspaceSectionOptions>({ session: new Session(), ...options }, "S", workspaceChecks);

describe("the options that all workspaces have", () => {
  test.each([
    [{ session: undefined }, "S.session must be a Session, got undefined. Give the one you"],
    [{ session: { id: "x" } }, "S.session must be a Session"],
    [{ syncOnCleanup: "yes" }, "S.syncOnCleanup must be a boolean"],
    [{ syncDestination: "" }, "S.syncDestination must be one line of text that is not blank"],
    [{ syncPolicy: "hourly" }, "S.syncPolicy must be one of"],
    [{ acceptsOverrides: 1 }, "S.acceptsOverrides must be a boolean"],
    [{ mount: [] }, 'did you mean "mounts"?'],
  ])("refuse %o", (options, message) => {
    expect(() => check(options)).toThrow(PromptValidationError);
    expect(() => check(options)).toThrow(message);
  });

  test("may all be left out but the session", () => {
    expect(() => check({})).not.toThrow();
    expect(() => check({ syncPolicy: "eachTurn", syncDestination: "out", key: "k" })).not.toThrow();
  });
});
