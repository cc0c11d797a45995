import { isNativeError } from "node:util/types";
import { describe, expect, test } from "vitest";
import * as core from "weakincentives";
import * as claude from "weakincentives/claude";
import * as files from "weakincentives/files";
import * as fleet from "weakincentives/fleet";
import * as local from "weakincentives/local";
import * as mcp from "weakincentives/mcp";
import * as openai from "weakincentives/openai";
import * as stores from "weakincentives/stores";
import * as testing from "weakincentives/testing";
import { FleetError } from "../fleet-error.ts";
import { FleetFullError } from "./fleet-full-error.ts";
import { rebuildError } from "./rebuild-error.ts";
import { RunCancelledError } from "./run-cancelled-error.ts";
import { RunDeadLetteredError } from "./run-dead-lettered-error.ts";
import { RunNotFoundError } from "./run-not-found-error.ts";
import { serializeError } from "./serialize-error.ts";

const entryPoints = { core, claude, files, fleet, local, mcp, openai, stores, testing };

const cause = Object.assign(new TypeError("fetch failed"), { code: "ECONNRESET" });
const usage = {
  ...{ inputTokens: 10, outputTokens: 5, cachedTokens: 2, reasoningTokens: 1 },
  totalTokens: 15,
};
const partial = {
  ...{ text: "So far", usage, responseId: "resp_1", turns: 3 },
  hostedCalls: [{ name: "web_search", output: { sources: ["https://owls.test"] } }],
};
const details = {
  ...{ promptName: "owls", requestId: "req_1", partial, cause },
  providerPayload: { error: { code: "slow_down", details: [1, null, true] } },
};
const refusal = { field: "Tool.name", value: -1, rule: "must be a name", remedy: "use a name" };
const refused = new openai.OpenAIRequestError("POST /responses failed", {
  ...{ reason: "status", status: 429, code: "slow", requestId: "req_1", retryAfterMs: 120_000 },
  ...{ body: { error: { code: "slow" } }, cause },
});
const approval = {
  ...{ key: "k1", callId: "call_1", name: "charge", params: { cents: 5 } },
  ...{ promptName: "owls", sessionId: "run" },
};

/** An error of each class that the package exports, with all of its fields. */
const samples: Readonly<Record<string, Error>> = {
  WinkError: new core.WinkError("Broken.", { cause }),
  InvalidOptionError: new core.InvalidOptionError({ ...refusal, cause }),
  PromptValidationError: new core.PromptValidationError(refusal),
  PromptRenderError: new core.PromptRenderError("rules.style", "has no text", cause),
  OutputParseError: new core.OutputParseError("The answer is not JSON", "owls"),
  PromptEvaluationError: new core.PromptEvaluationError("Refused.", { ...details, phase: "tool" }),
  ThrottleError: new core.ThrottleError("Too many requests", {
    ...{ ...details, kind: "rate_limit", retryAfterMs: 120_000, attempts: 2 },
    cause: refused,
  }),
  DeadlineExceededError: new core.DeadlineExceededError("Late.", { ...details, phase: "response" }),
  BudgetExceededError: new core.BudgetExceededError(
    { dimension: "outputTokens", used: 12, limit: 10 },
    details,
  ),
  EvaluationParkedError: new core.EvaluationParkedError([approval], details),
  StreamReadError: new core.StreamReadError("The events are no longer kept."),
  SessionStoreError: new core.SessionStoreError("The session is held.", {
    ...{ sessionId: "run", owner: "host/1", since: "2026-01-01T00:00:00Z", cause },
  }),
  SnapshotError: new core.SnapshotError("The slice is not JSON."),
  SnapshotRestoreError: new core.SnapshotRestoreError("The slice is unknown."),
  UnboundResourceError: new core.UnboundResourceError("database"),
  PatchError: new core.PatchError({
    ...{ problem: "the line is missing", remedy: "read the file again", cause },
    ...{ path: "a.txt", hunk: 2, line: 7 },
  }),
  FilesystemError: new files.FilesystemError("ENOENT", "a.txt", "does not exist", cause),
  WorkspaceSecurityError: new files.WorkspaceSecurityError("Outside."),
  WorkspaceBudgetExceededError: new files.WorkspaceBudgetExceededError("Too large."),
  OpenAIRequestError: refused,
  ContainerExpiredError: new openai.ContainerExpiredError("cntr_1", refused, "create another"),
  CompactionError: new openai.CompactionError(4_000, refused, "owls"),
  IsolationAuthError: new claude.IsolationAuthError(refusal),
  FleetError: new FleetError("The database has another schema.", { cause }),
  CassetteError: new testing.CassetteError("The cassette differs.", { cause }),
  FleetFullError: new FleetFullError({ loop: "review", waiting: 10, maxWaiting: 10 }),
  RunCancelledError: new RunCancelledError("r1", "superseded"),
  RunDeadLetteredError: new RunDeadLetteredError("r1", { attempts: 5, cause: refused }),
  RunNotFoundError: new RunNotFoundError("r1"),
};

/** Classes of modules that a fleet does not load, and the classes that their errors become. */
const nearest: Readonly<Record<string, new (...args: never[]) => Error>> = {
  CassetteError: core.WinkError,
  OpenAIRequestError: core.WinkError,
  ContainerExpiredError: core.WinkError,
  CompactionError: core.PromptEvaluationError,
  IsolationAuthError: core.InvalidOptionError,
};

/** Lists everything that a user can read from an error, without the stack. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  const fields = Object.fromEntries(
    Object.entries(error).map(([key, value]) => [key, describeError(value)]),
  );
  return { name, message, fields, cause: describeError(error.cause) };
}

describe("every error class that the package exports", () => {
  const classes = Object.values(entryPoints).flatMap((exported) =>
    Object.entries(exported).filter(
      ([, value]) => typeof value === "function" && value.prototype instanceof Error,
    ),
  );

  test("has a sample here", () => {
    const names = new Set(classes.map(([name]) => name));
    expect([...names].sort()).toEqual(Object.keys(samples).sort());
  });

  test.each(Object.entries(samples))("%s is rebuilt with its fields", (name, error) => {
    const rebuilt = rebuildError(serializeError(error));
    expect(describeError(rebuilt)).toEqual(describeError(error));
    const kind = nearest[name] ?? error.constructor;
    expect(Object.getPrototypeOf(rebuilt)).toBe(kind.prototype);
    expect(isNativeError(rebuilt)).toBe(true);
    expect(rebuilt.stack).toContain("rebuild-error.test.ts");
    expect(Object.keys(rebuilt)).toContain("name");
  });

  test("is rebuilt as the same class, unless a fleet does not load it", () => {
    const others = classes.filter(([name, kind]) => {
      const sample = samples[name];
      return sample && !(rebuildError(serializeError(sample)) instanceof (kind as typeof Error));
    });
    expect(others.map(([name]) => name).sort()).toEqual(Object.keys(nearest).sort());
  });
});

describe("a rebuilt error", () => {
  test("has its cause in originalError too", () => {
    const rebuilt = rebuildError(serializeError(samples["CompactionError"]));
    expect(rebuilt).toHaveProperty("originalError", rebuilt.cause);
    expect(rebuilt.cause).toMatchObject({ name: "OpenAIRequestError", status: 429 });
  });

  test("of an invalid option can be renamed", () => {
    const rebuilt = rebuildError(serializeError(samples["InvalidOptionError"]));
    const renamed = (rebuilt as core.InvalidOptionError).withField("tool");
    expect(renamed.message).toBe("tool must be a name, got -1. Use a name.");
  });

  test("of another class is an Error with its name and JSON fields", () => {
    class CardError extends Error {
      override readonly name = "CardError";
      readonly card = { last4: "4242", issued: new Date(0) };
      readonly decline = () => {};
      readonly inner = new RangeError("too much");
      readonly errors = ["card: expired"];
      get secret() {
        return "no";
      }
    }
    const rebuilt = rebuildError(serializeError(new CardError("Declined.")));
    expect(Object.getPrototypeOf(rebuilt)).toBe(Error.prototype);
    expect(rebuilt).toMatchObject({ name: "CardError", message: "Declined." });
    expect(Object.keys(rebuilt)).toEqual(["card", "errors", "inner"]);
    expect(rebuilt).toHaveProperty("card", { last4: "4242" });
    expect(rebuilt).toHaveProperty("inner", expect.any(RangeError));
  });

  test("of a user's subclass is an instance of the library's class", () => {
    class SlowError extends core.PromptEvaluationError {
      override readonly name = "SlowError";
      readonly seconds = 7;
    }
    const rebuilt = rebuildError(
      serializeError(new SlowError("Slow.", { ...details, phase: "tool" })),
    );
    expect(rebuilt).toBeInstanceOf(core.PromptEvaluationError);
    expect(rebuilt).toMatchObject({ name: "SlowError", seconds: 7, partial });
  });

  test("has the errors of an AggregateError", () => {
    const both = new AggregateError([cause, "late"], "Two failed.");
    const rebuilt = rebuildError(serializeError(both));
    expect(rebuilt).toBeInstanceOf(AggregateError);
    const { errors } = rebuilt as AggregateError;
    expect(errors.map(describeError)).toEqual([
      describeError(cause),
      describeError(new Error("late")),
    ]);
  });

  test("has a cause that is not an error", () => {
    const toCause = (given: unknown) =>
      rebuildError(serializeError(new Error("x", { cause: given }))).cause;
    expect(toCause({ code: 7 })).toEqual({ code: 7 });
    expect(toCause("late")).toBe("late");
    expect(toCause(null)).toBe(null);
    expect(toCause(() => {})).toBe("a function");
    expect(toCause(undefined)).toBe(undefined);
  });
});

describe("rebuildError() of a text that was not stored by serializeError()", () => {
  test.each([
    ["nothing", ""],
    ["half of an object", "{"],
    ["null", "null"],
    ["a list", "[]"],
    ["a text", '"text"'],
    ["no message", "{}"],
    ["a message that is a number", '{"message":7}'],
    ["very deep data", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ])("returns a WinkError for %s", (_what, text) => {
    const rebuilt = rebuildError(text);
    expect(rebuilt).toBeInstanceOf(core.WinkError);
    expect(rebuilt.message).toMatch(/^The stored error cannot be read: /);
  });

  test("does not change prototypes, and hides no methods", () => {
    const payload = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":1}}';
    const rebuilt = rebuildError(
      `{"name":"X","base":"InvalidOptionError","message":"m","__proto__":{"isAdmin":true},
       "fields":{"__proto__":{"isAdmin":true},"constructor":1,"withField":2,"toString":3,"stack":4,"cause":5,
         "message":6,"name":7,"payload":${payload}},
       "causeFields":["__proto__","toString","stack",8],"errorFields":{"__proto__":{"message":"n"},"cause":{"message":"n"}}}`,
    );
    expect(Object.getPrototypeOf(rebuilt)).toBe(core.InvalidOptionError.prototype);
    expect(Object.keys(rebuilt).sort()).toEqual(["field", "name", "payload", "remedy", "value"]);
    expect(rebuilt).toMatchObject({ name: "X", message: "m" });
    expect(rebuilt.cause).toBeUndefined();
    expect(Object.keys(Object(rebuilt).payload)).toEqual(["constructor"]);
    expect("isAdmin" in rebuilt || "isAdmin" in Object(rebuilt).payload).toBe(false);
    const own = Object.values(Object.getOwnPropertyDescriptors(rebuilt));
    expect(own.every((property) => "value" in property)).toBe(true);
  });

  test.each(["__proto__", "constructor", "toString", "NoSuchError", ""])(
    "uses Error for the class %j",
    (base) => {
      const rebuilt = rebuildError(JSON.stringify({ name: "", base, message: "m" }));
      expect(Object.getPrototypeOf(rebuilt)).toBe(Error.prototype);
      expect(rebuilt.name).toBe(base || "Error");
    },
  );

  test("gives fields of a wrong type their defaults", () => {
    const wrong = { message: "m", fields: { partial: { usage: { inputTokens: "x" } }, phase: 1 } };
    expect(rebuildError(JSON.stringify({ ...wrong, base: "ThrottleError" }))).toMatchObject({
      ...{ name: "ThrottleError", promptName: "", phase: "request", providerPayload: null },
      ...{ requestId: null, kind: "server", retryAfterMs: null, attempts: 0 },
      partial: {
        text: null,
        hostedCalls: [],
        responseId: null,
        turns: 0,
        usage: { inputTokens: 0 },
      },
    });
    expect(
      rebuildError(JSON.stringify({ ...wrong, base: "EvaluationParkedError" })),
    ).toHaveProperty("approvals", []);
    const text = JSON.stringify({ message: "m", base: "SessionStoreError", fields: 7 });
    expect(rebuildError(text)).toMatchObject({ sessionId: null, owner: null, since: null });
    expect(rebuildError(JSON.stringify({ message: "m", base: "PatchError" }))).toMatchObject({
      ...{ path: null, hunk: null, line: null },
    });
  });

  test("rebuilds ten causes at most", () => {
    let text = '{"message":"m"}';
    for (let index = 0; index < 50; index++) text = `{"message":"m","cause":{"error":${text}}}`;
    let depth = 0;
    for (let error: unknown = rebuildError(text); error instanceof Error; error = error.cause)
      depth++;
    expect(depth).toBe(11);
  });
});
