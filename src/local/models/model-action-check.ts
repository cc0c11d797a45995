import { InvalidOptionError } from "../../base/errors.ts";
import { frozenCopy, isPlainObject } from "../../base/freeze.ts";
import { jsonProblem } from "../../base/json.ts";
import { suggestion } from "../../base/nearest.ts";
import { list } from "../../base/show.ts";
import type { ModelAction } from "../model-action.ts";

/** A frozen copy of what a model is to do in one turn; `field` is what the caller knows it by. */
export function checkedActions(actions: unknown, field: string): readonly ModelAction[] {
  if (!Array.isArray(actions) || actions.length === 0) {
    refuse(field, actions, "must be a list with an action", 'write [{ say: "Hello." }]');
  }
  for (const [place, action] of actions.entries()) checkAction(action, `${field}[${place}]`);
  return frozenCopy(actions);
}

type Check = (value: unknown, field: string) => void;

function checkAction(action: unknown, field: string): void {
  if (!isPlainObject(action)) {
    refuse(field, action, "must be an action", 'write { say: "Hello." }');
  }
  const keys = Object.keys(action);
  const [name, ...others] = keys.filter((key) => key !== "citations");
  if (name === undefined) refuse(field, action, `must be one of ${list(checks.keys(), 20)}`, SAY);
  const check = checks.get(name);
  if (!check) {
    const near = suggestion(name, checks.keys());
    const remedy = near === null ? SAY : `did you mean ${near}?`;
    refuse(`${field}.${name}`, action[name], `must be one of ${list(checks.keys(), 20)}`, remedy);
  }
  if (others.length > 0) {
    refuse(field, action, "must be one action", "write one object for each, one after the other");
  }
  check(action[name], `${field}.${name}`);
  if (!keys.includes("citations")) return;
  if (name !== "say") refuse(`${field}.citations`, action, "must go with say", "leave it out");
  checkCitations(action["citations"], `${field}.citations`);
}

const SAY = 'write { say: "Hello." }, or another of them';

const text: Check = (value, field) => {
  if (typeof value !== "string") refuse(field, value, "must be a text", "put it in quotes");
};

const words: Check = (value, field) => {
  if (typeof value === "string" && value !== "") return;
  refuse(field, value, "must be a text that is not empty", "put it in quotes");
};

const yes: Check = (value, field) => {
  if (value !== true) refuse(field, value, "must be true", "write true, or leave the action out");
};

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["say", checkSaid],
  ["think", text],
  ["call", checkCall],
  ["code", text],
  ["shell", checkCommands],
  ["search", checkSearch],
  ["patch", checkOperations],
  ["use", checkUse],
  ["compact", yes],
  ["refuse", text],
  ["fail", checkFailure],
  ["stall", checkMilliseconds],
  ["drop", yes],
  ["expireContainer", yes],
]);

function checkSaid(said: unknown, field: string): void {
  if (typeof said === "string") return;
  const problem = jsonProblem(said);
  if (typeof said === "object" && said !== null && problem === null) return;
  const rule = "must be a text, or an object that JSON can say";
  refuse(field, said, rule, `give one or the other${problem === null ? "" : `; ${problem}`}`);
}

function checkCall(call: unknown, field: string): void {
  checkFields(call, field, {
    name: words,
    args(args, place) {
      if (typeof args === "string" || (isPlainObject(args) && jsonProblem(args) === null)) return;
      const rule = "must be an object that JSON can say, or a text to be sent as it is";
      refuse(place, args, rule, "write {} where there is nothing to say");
    },
    "callId?": words,
  });
}

/** Which kinds there are is known to the server alone: it refuses others when it is asked. */
function checkUse(use: unknown, field: string): void {
  checkFields(use, field, {
    kind: words,
    args(args, place) {
      if (isPlainObject(args) && jsonProblem(args) === null) return;
      refuse(place, args, "must be an object that JSON can express", "write {} for no arguments");
    },
  });
}

function checkCommands(commands: unknown, field: string): void {
  if (!Array.isArray(commands) || commands.length === 0) {
    refuse(field, commands, "must be a list with a command", 'write ["ls"]');
  }
  for (const [place, command] of commands.entries()) text(command, `${field}[${place}]`);
}

function checkSearch(search: unknown, field: string): void {
  const kinds = [{ file: words }, { web: words }, { open: words }, { find: words, in: words }];
  const kind = kinds.find((fields) =>
    Object.keys(fields).some((key) => isPlainObject(search) && key in search),
  );
  if (typeof search === "string") words(search, field);
  else if (kind) checkFields(search, field, kind);
  else {
    const rule = "must be a text, { file }, { web }, { open } or { find, in }";
    refuse(field, search, rule, "say what to look for, and where");
  }
}

function checkOperations(operations: unknown, field: string): void {
  if (!Array.isArray(operations) || operations.length === 0) {
    const remedy = 'write [{ type: "delete_file", path: "a.txt" }]';
    refuse(field, operations, "must be a list with an operation", remedy);
  }
  for (const [place, operation] of operations.entries()) {
    if (isPlainObject(operation)) continue;
    const remedy = "give its type, its path and, unless it deletes, its diff";
    refuse(`${field}[${place}]`, operation, "must be an object", remedy);
  }
}

function checkFailure(failure: unknown, field: string): void {
  checkFields(failure, field, {
    "status?"(status, place) {
      if (Number.isInteger(status) && Number(status) >= 400 && Number(status) < 600) return;
      refuse(place, status, "must be a status from 400 to 599", "give one like 429 or 500");
    },
    "code?": words,
    "message?": text,
  });
}

function checkMilliseconds(wait: unknown, field: string): void {
  if (typeof wait === "number" && wait >= 0 && Number.isFinite(wait)) return;
  refuse(field, wait, "must be a number of milliseconds from 0", "give a finite number");
}

function checkCitations(citations: unknown, field: string): void {
  if (!Array.isArray(citations)) refuse(field, citations, "must be a list", "write [{ hit: 0 }]");
  for (const [place, citation] of citations.entries()) {
    const kind = isPlainObject(citation) && "file" in citation ? { file: words } : { hit: index };
    checkFields(citation, `${field}[${place}]`, { ...kind, "at?": checkSpan });
  }
}

const index: Check = (value, field) => {
  if (Number.isInteger(value) && Number(value) >= 0) return;
  refuse(field, value, "must be a whole number from 0", "count what was found last from 0");
};

function checkSpan(span: unknown, field: string): void {
  const [start, end, ...more] = Array.isArray(span) ? span : [];
  const isSpan = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end;
  if (isSpan && more.length === 0) return;
  refuse(field, span, "must be [start, end]", "count characters of the text from 0");
}

/** A name that ends in `?` need not be there. */
function checkFields(value: unknown, field: string, fields: Readonly<Record<string, Check>>): void {
  const known = new Map(
    Object.entries(fields).map(([name, check]) => [
      name.replace("?", ""),
      { check, isOptional: name.endsWith("?") },
    ]),
  );
  if (!isPlainObject(value)) {
    refuse(field, value, "must be an object", `give it ${list(known.keys())}`);
  }
  for (const key of Object.keys(value)) {
    if (known.has(key)) continue;
    const rule = `must be one of ${list(known.keys())}`;
    refuse(`${field}.${key}`, value[key], rule, "leave it out");
  }
  for (const [name, { check, isOptional }] of known) {
    if (value[name] === undefined && isOptional) continue;
    check(value[name], `${field}.${name}`);
  }
}

function refuse(field: string, value: unknown, rule: string, remedy: string): never {
  throw new InvalidOptionError({ field, value, rule, remedy });
}
