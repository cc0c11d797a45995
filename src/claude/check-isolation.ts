import { PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import {
  arrayCheck,
  checkBoolean,
  checkKeys,
  checkObjectUnquoted,
  checkSingleLine,
  optional,
} from "../tools/config-checks.ts";
import { checkNetworkPolicy } from "../tools/hosted/network-policy.ts";
import type { IsolationConfig, SandboxConfig } from "./isolation.ts";
import { checkPlainPath } from "./permissions.ts";

/** Validates a config and returns a frozen copy. Errors never contain secrets. */
export function checkIsolation(config: IsolationConfig, field = "isolation"): IsolationConfig {
  checkObjectUnquoted(config, field);
  checkKeys<IsolationConfig>(config, field, {
    networkPolicy: optional(checkPolicy),
    sandbox: optional(checkSandbox),
    env: optional(checkVariables),
    apiKey: optional(checkApiKey),
    baseURL: optional(checkBaseUrl),
    includeHostEnv: optional(checkBoolean),
    inheritAuth: optional(checkBoolean),
  });
  return copyAndFreeze(config);
}

/** Throws if a value is not an object of environment variables. Errors never contain their values. */
function checkVariables(value: unknown, field: string): void {
  checkObjectUnquoted(value, field);
  for (const [name, text] of Object.entries(value)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      const rule = "must consist of letters, digits and _, and must not start with a digit";
      const remedy = 'use a name like "MY_VARIABLE"';
      throw new PromptValidationError({ field: `${field} key`, value: name, rule, remedy });
    }
    if (typeof text === "string" && !text.includes("\0")) continue;
    throw new PromptValidationError({
      field: `${field}.${name}`,
      value: undefined,
      rule: "must be a string without NUL characters",
      remedy: "pass numbers as strings too",
      secret: true,
    });
  }
}

function checkPolicy(value: unknown, field: string): void {
  checkNetworkPolicy(value, field);
  if (!(typeof value === "object" && value !== null && "domainSecrets" in value)) return;
  throw new PromptValidationError({
    field: `${field}.domainSecrets`,
    value: undefined,
    rule: "must be omitted on Claude, which does not add secrets to requests",
    remedy: "send the request from a Tool with a handler",
    secret: true,
  });
}

function checkSandbox(value: unknown, field: string): void {
  checkKeys<SandboxConfig>(value, field, {
    enabled: optional(checkBoolean),
    writablePaths: optional(arrayCheck(checkPlainPath)),
    readablePaths: optional(arrayCheck(checkPlainPath)),
    excludedCommands: optional(arrayCheck(checkSingleLine)),
    allowUnsandboxedCommands: optional(checkBoolean),
  });
}

/** The key is sent in a header. */
function checkApiKey(value: unknown, field: string): void {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  const rule = "must consist of printable ASCII characters without spaces";
  const remedy = "pass the key as Anthropic shows it, without spaces or a line break";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkBaseUrl(value: unknown, field: string): void {
  const url = typeof value === "string" && /^https?:\/\/\S+$/i.test(value) && URL.parse(value);
  if (url && url.username === "" && url.password === "") return;
  const secret = typeof value === "string" && value.includes("@"); // it may contain a password
  const rule = "must be an http: or https: URL without a user name and password";
  const remedy = 'use a URL like "https://api.anthropic.com", and pass the key as apiKey';
  throw new PromptValidationError({ field, value, rule, remedy, secret });
}
