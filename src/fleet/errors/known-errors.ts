import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import { StreamReadError } from "../../adapter/stream/stream-read-error.ts";
import {
  InvalidOptionError,
  OutputParseError,
  PromptRenderError,
  PromptValidationError,
} from "../../base/errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  type PartialResponse,
  PromptEvaluationError,
  ThrottleError,
} from "../../base/evaluation-errors.ts";
import {
  FilesystemError,
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../../base/filesystem-error.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import { toUsage } from "../../base/usage.ts";
import { WinkError } from "../../base/wink-error.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { SnapshotError, SnapshotRestoreError } from "../../session/snapshot-errors.ts";
import { PatchError } from "../../tools/patch/patch-error.ts";
import { UnboundResourceError } from "../../tools/resources.ts";
import { FleetError } from "../fleet-error.ts";
import { FleetFullError } from "./fleet-full-error.ts";
import { RunCancelledError } from "./run-cancelled-error.ts";
import { RunDeadLetteredError } from "./run-dead-lettered-error.ts";
import { RunNotFoundError } from "./run-not-found-error.ts";

/** A class of errors. Its constructor is not called, because it would compose a new message. */
export type ErrorClass = abstract new (...args: never[]) => Error;

/** Reads a field of a stored error. Returns a value of the field's type for every input. */
export type FieldReader = (value: unknown) => unknown;

/** A class whose errors can be rebuilt, and the fields that they always have. */
export interface KnownError {
  readonly kind: ErrorClass;
  readonly fields: Readonly<Record<string, FieldReader>>;
}

const readTextField: FieldReader = (value) => (typeof value === "string" ? value : "");
const readTextOrNull: FieldReader = (value) => (typeof value === "string" ? value : null);
const readNumberField: FieldReader = (value) => (typeof value === "number" ? value : 0);
const readNumberOrNull: FieldReader = (value) => (typeof value === "number" ? value : null);
const readListField: FieldReader = (value) =>
  Object.freeze(Array.isArray(value) ? value.filter(isPlainObject) : []);

/** Returns a reader of texts with a value for all others. */
const textOr =
  (missing: string): FieldReader =>
  (value) =>
    typeof value === "string" ? value : missing;

const toPartial = (value: unknown): PartialResponse => {
  const record: UnknownRecord = isPlainObject(value) ? value : {};
  const usage = readRecord(record, "usage");
  const costUsd = readNumber(record, "costUsd");
  const numbers = Object.entries(usage).filter(([, count]) => typeof count === "number");
  return Object.freeze({
    text: readStringOrNull(record, "text"),
    hostedCalls: readRecords(record, "hostedCalls"),
    usage: toUsage(Object.fromEntries(numbers)),
    ...(costUsd !== null && { costUsd }),
    responseId: readStringOrNull(record, "responseId"),
    turns: readNumber(record, "turns") ?? 0,
  });
};

const option = { field: readTextField, value: (value: unknown) => value, remedy: readTextField };
const evaluation = {
  promptName: readTextField,
  phase: textOr("request"),
  providerPayload: (value: unknown) => value ?? null,
  requestId: readTextOrNull,
  partial: toPartial,
};
const throttle = {
  kind: textOr("server"),
  retryAfterMs: readNumberOrNull,
  attempts: readNumberField,
};
const budget = { dimension: textOr("totalTokens"), used: readNumberField, limit: readNumberField };
const store = { sessionId: readTextOrNull, owner: readTextOrNull, since: readTextOrNull };
const patch = { path: readTextOrNull, hunk: readNumberOrNull, line: readNumberOrNull };
const full = { loop: readTextField, waiting: readNumberField, maxWaiting: readNumberField };

const plainError: KnownError = { kind: Error, fields: {} };

/** The classes by the names that are stored. Errors of other classes become errors of the nearest one. */
const knownErrors: Readonly<Record<string, KnownError>> = {
  Error: plainError,
  TypeError: { kind: TypeError, fields: {} },
  RangeError: { kind: RangeError, fields: {} },
  SyntaxError: { kind: SyntaxError, fields: {} },
  ReferenceError: { kind: ReferenceError, fields: {} },
  AggregateError: { kind: AggregateError, fields: {} },
  WinkError: { kind: WinkError, fields: {} },
  InvalidOptionError: { kind: InvalidOptionError, fields: option },
  PromptValidationError: { kind: PromptValidationError, fields: option },
  PromptRenderError: { kind: PromptRenderError, fields: { sectionPath: readTextField } },
  OutputParseError: { kind: OutputParseError, fields: { text: readTextField } },
  PromptEvaluationError: { kind: PromptEvaluationError, fields: evaluation },
  ThrottleError: { kind: ThrottleError, fields: { ...evaluation, ...throttle } },
  DeadlineExceededError: { kind: DeadlineExceededError, fields: evaluation },
  BudgetExceededError: { kind: BudgetExceededError, fields: { ...evaluation, ...budget } },
  EvaluationParkedError: {
    kind: EvaluationParkedError,
    fields: { ...evaluation, approvals: readListField },
  },
  StreamReadError: { kind: StreamReadError, fields: {} },
  SessionStoreError: { kind: SessionStoreError, fields: store },
  SnapshotError: { kind: SnapshotError, fields: {} },
  SnapshotRestoreError: { kind: SnapshotRestoreError, fields: {} },
  UnboundResourceError: { kind: UnboundResourceError, fields: { resourceName: readTextField } },
  PatchError: { kind: PatchError, fields: patch },
  FilesystemError: {
    kind: FilesystemError,
    fields: { code: textOr("EINVAL"), path: readTextField },
  },
  WorkspaceSecurityError: { kind: WorkspaceSecurityError, fields: {} },
  WorkspaceBudgetExceededError: { kind: WorkspaceBudgetExceededError, fields: {} },
  FleetError: { kind: FleetError, fields: {} },
  FleetFullError: { kind: FleetFullError, fields: full },
  RunCancelledError: {
    kind: RunCancelledError,
    fields: { runId: readTextField, reason: readTextField },
  },
  RunDeadLetteredError: {
    kind: RunDeadLetteredError,
    fields: { runId: readTextField, attempts: readNumberField },
  },
  RunNotFoundError: { kind: RunNotFoundError, fields: { runId: readTextField } },
};

/** Returns the stored name of the error's class, or of the nearest class that it extends. */
export function findKnownClass(error: Error): string {
  const names = Object.entries(knownErrors);
  let prototype: unknown = Object.getPrototypeOf(error);
  while (prototype !== null) {
    const found = names.find(([, { kind }]) => kind.prototype === prototype);
    if (found) return found[0];
    prototype = Object.getPrototypeOf(prototype);
  }
  return "Error";
}

/** Returns the class with a stored name, and `Error` for a name that is not known. */
export function getKnownError(name: string): KnownError {
  return (Object.hasOwn(knownErrors, name) && knownErrors[name]) || plainError;
}
