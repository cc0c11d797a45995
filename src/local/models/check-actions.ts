import { createUnknownKeyError, InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { findJsonProblem } from "../../base/json.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import type { ModelAction } from "../model-action.ts";

/** Validates the actions of one step. `field` names them in errors. */
export function checkActions(
  actions: unknown,
  field: string,
): asserts actions is readonly ModelAction[] {
  if (!Array.isArray(actions) || actions.length === 0) {
    throwInvalid(field, actions, "must be a non-empty array of actions", 'use [{ say: "Hello." }]');
  }
  for (const [place, action] of actions.entries()) checkAction(action, `${field}[${place}]`);
}

type Check = (value: unknown, field: string) => void;

function checkAction(action: unknown, field: string): void {
  if (!isPlainObject(action)) {
    throwInvalid(field, action, "must be an action object", 'use { say: "Hello." }');
  }
  const keys = Object.keys(action);
  const [name, ...others] = keys.filter((key) => !sayFields.has(key));
  if (name === undefined)
    throwInvalid(field, action, `must be one of ${quoteNames(checks.keys(), 20)}`, SAY);
  const check = checks.get(name);
  if (!check) {
    const names = [...checks.keys()];
    if (suggestSpelling(name, names) !== null) throw createUnknownKeyError(name, field, names);
    throwInvalid(`${field} key`, name, `must be one of ${quoteNames(names, 20)}`, SAY);
  }
  if (others.length > 0) {
    throwInvalid(field, action, "must be a single action", "use one object per action");
  }
  check(action[name], `${field}.${name}`);
  for (const [key, checkField] of sayFields) {
    if (!keys.includes(key)) continue;
    if (name !== "say")
      throwInvalid(`${field}.${key}`, action, "must be used together with say", "remove it");
    checkField(action[key], `${field}.${key}`);
  }
  if (keys.includes("citations") && keys.includes("everyMs")) {
    const rule = "must not be combined with citations";
    throwInvalid(`${field}.everyMs`, action["everyMs"], rule, "remove one of the two");
  }
}

const SAY = 'use { say: "Hello." }, or another action';

const checkText: Check = (value, field) => {
  if (typeof value !== "string") throwInvalid(field, value, "must be a string", "pass a string");
};

const checkNonEmptyText: Check = (value, field) => {
  if (typeof value === "string" && value !== "") return;
  throwInvalid(field, value, "must be a non-empty string", "pass a string");
};

const checkTrue: Check = (value, field) => {
  if (value !== true) throwInvalid(field, value, "must be true", "use true, or remove it");
};

const checkBoolean: Check = (value, field) => {
  if (typeof value !== "boolean")
    throwInvalid(field, value, "must be true or false", "use true, or remove it");
};

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["say", checkAnswer],
  ["think", checkText],
  ["call", checkCall],
  ["code", checkText],
  ["shell", checkCommands],
  ["search", checkSearch],
  ["patch", checkOperations],
  ["use", checkUse],
  ["compact", checkTrue],
  ["refuse", checkText],
  ["fail", checkFailure],
  ["failInStream", checkFailure],
  ["stall", checkMilliseconds],
  ["drop", checkTrue],
  ["expireContainer", checkTrue],
]);

/** Fields that only `say` has beside itself. */
const sayFields: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["citations", checkCitations],
  ["phase", checkPhase],
  ["everyMs", checkMilliseconds],
]);

function checkPhase(phase: unknown, field: string): void {
  if (phase === "commentary" || phase === "final_answer") return;
  throwInvalid(field, phase, 'must be "commentary" or "final_answer"', "remove it for an answer");
}

function checkAnswer(answer: unknown, field: string): void {
  if (typeof answer === "string") return;
  const problem = findJsonProblem(answer);
  if (typeof answer === "object" && answer !== null && problem === null) return;
  const rule = "must be a string or a JSON-serializable object";
  throwInvalid(
    field,
    answer,
    rule,
    `pass a string or a plain object${problem === null ? "" : `; ${problem}`}`,
  );
}

function checkCall(call: unknown, field: string): void {
  checkFields(call, field, {
    name: checkNonEmptyText,
    args(args, place) {
      if (typeof args === "string" || (isPlainObject(args) && findJsonProblem(args) === null))
        return;
      const rule = "must be a JSON-serializable object, or a string to send unchanged";
      throwInvalid(place, args, rule, "use {} for no arguments");
    },
    "callId?": checkNonEmptyText,
    "madeUp?": checkBoolean,
  });
}

/** Only the server knows which kinds exist. It rejects unknown ones when the model uses them. */
function checkUse(use: unknown, field: string): void {
  checkFields(use, field, {
    kind: checkNonEmptyText,
    args(args, place) {
      if (isPlainObject(args) && findJsonProblem(args) === null) return;
      throwInvalid(place, args, "must be a JSON-serializable object", "use {} for no arguments");
    },
  });
}

function checkCommands(commands: unknown, field: string): void {
  if (!Array.isArray(commands) || commands.length === 0) {
    throwInvalid(field, commands, "must be a non-empty array of commands", 'use ["ls"]');
  }
  for (const [place, command] of commands.entries()) checkText(command, `${field}[${place}]`);
}

function checkSearch(search: unknown, field: string): void {
  const kinds = [
    { file: checkNonEmptyText },
    { web: checkNonEmptyText },
    { open: checkNonEmptyText },
    { find: checkNonEmptyText, in: checkNonEmptyText },
  ];
  const kind = kinds.find((fields) =>
    Object.keys(fields).some((key) => isPlainObject(search) && key in search),
  );
  if (typeof search === "string") checkNonEmptyText(search, field);
  else if (kind) checkFields(search, field, kind);
  else {
    const rule = "must be a string, { file }, { web }, { open } or { find, in }";
    throwInvalid(field, search, rule, 'use a string such as "quarterly report"');
  }
}

function checkOperations(operations: unknown, field: string): void {
  if (!Array.isArray(operations) || operations.length === 0) {
    const remedy = 'use [{ type: "delete_file", path: "a.txt" }]';
    throwInvalid(field, operations, "must be a non-empty array of operations", remedy);
  }
  for (const [place, operation] of operations.entries()) {
    if (isPlainObject(operation)) continue;
    const remedy = "pass its type, its path and, unless it deletes a file, its diff";
    throwInvalid(`${field}[${place}]`, operation, "must be an object", remedy);
  }
}

function checkFailure(failure: unknown, field: string): void {
  checkFields(failure, field, {
    "status?"(status, place) {
      if (Number.isInteger(status) && Number(status) >= 400 && Number(status) < 600) return;
      throwInvalid(
        place,
        status,
        "must be an HTTP status from 400 to 599",
        "use one such as 429 or 500",
      );
    },
    "code?": checkNonEmptyText,
    "message?": checkText,
  });
}

function checkMilliseconds(wait: unknown, field: string): void {
  if (typeof wait === "number" && wait >= 0 && Number.isFinite(wait)) return;
  throwInvalid(field, wait, "must be a number of milliseconds from 0", "pass a finite number");
}

function checkCitations(citations: unknown, field: string): void {
  if (!Array.isArray(citations))
    throwInvalid(field, citations, "must be an array", "use [{ hit: 0 }]");
  for (const [place, citation] of citations.entries()) {
    const kind =
      isPlainObject(citation) && "file" in citation
        ? { file: checkNonEmptyText }
        : { hit: checkIndex };
    checkFields(citation, `${field}[${place}]`, { ...kind, "at?": checkSpan });
  }
}

const checkIndex: Check = (value, field) => {
  if (Number.isInteger(value) && Number(value) >= 0) return;
  throwInvalid(
    field,
    value,
    "must be a non-negative integer",
    "count the hits of the last search from 0",
  );
};

function checkSpan(span: unknown, field: string): void {
  const [start, end, ...more] = Array.isArray(span) ? span : [];
  const isSpan = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end;
  if (isSpan && more.length === 0) return;
  throwInvalid(field, span, "must be [start, end]", "count the characters of the answer from 0");
}

/** Validates the fields of an object. A name that ends in `?` is optional. */
function checkFields(value: unknown, field: string, fields: Readonly<Record<string, Check>>): void {
  const known = new Map(
    Object.entries(fields).map(([name, check]) => [
      name.replace("?", ""),
      { check, isOptional: name.endsWith("?") },
    ]),
  );
  if (!isPlainObject(value)) {
    throwInvalid(field, value, "must be an object", `pass one with ${quoteNames(known.keys())}`);
  }
  for (const key of Object.keys(value)) {
    if (!known.has(key)) throw createUnknownKeyError(key, field, [...known.keys()]);
  }
  for (const [name, { check, isOptional }] of known) {
    if (value[name] === undefined && isOptional) continue;
    check(value[name], `${field}.${name}`);
  }
}

function throwInvalid(field: string, value: unknown, rule: string, remedy: string): never {
  throw new InvalidOptionError({ field, value, rule, remedy });
}
