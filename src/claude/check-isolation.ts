import { PromptValidationError } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import {
  checkBoolean,
  checkKeys,
  checkObjectUnquoted,
  checkText,
  listOf,
  optional,
} from "../tools/config-checks.ts";
import { checkNetworkPolicy } from "../tools/hosted/network-policy.ts";
import type { IsolationConfig, SandboxConfig } from "./isolation.ts";
import { checkPlainPath } from "./permissions.ts";

/** Returns a frozen copy of a config. Throws if it is invalid; no error quotes a secret. */
export function checkIsolation(config: IsolationConfig, field = "isolation"): IsolationConfig {
  checkObjectUnquoted(config, field);
  checkKeys<IsolationConfig>(config, field, {
    networkPolicy: optional(checkPolicy),
    sandbox: optional(checkSandbox),
    env: optional(checkVariables),
    apiKey: optional(checkApiKey),
    baseURL: optional(checkAddress),
    includeHostEnv: optional(checkBoolean),
    inheritAuth: optional(checkBoolean),
  });
  return frozenCopy(config);
}

/** Throws if a value is not an object of variables by name. Their values are not quoted. */
function checkVariables(value: unknown, field: string): void {
  checkObjectUnquoted(value, field);
  for (const [name, text] of Object.entries(value)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      const rule = "must be a name of letters, digits and _ that begins with no digit";
      const remedy = 'write one like "MY_VARIABLE"';
      throw new PromptValidationError({ field: `${field} key`, value: name, rule, remedy });
    }
    if (typeof text === "string" && !text.includes("\0")) continue;
    throw new PromptValidationError({
      field: `${field}.${name}`,
      value: undefined,
      rule: "must be a text without a NUL",
      remedy: "write it as a string, numbers too",
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
    rule: "must be left out",
    remedy: "secrets are put into requests at OpenAI only: make the request in a tool of your own",
    secret: true,
  });
}

function checkSandbox(value: unknown, field: string): void {
  checkKeys<SandboxConfig>(value, field, {
    enabled: optional(checkBoolean),
    writablePaths: optional(listOf(checkPlainPath)),
    readablePaths: optional(listOf(checkPlainPath)),
    excludedCommands: optional(listOf(checkText)),
    allowUnsandboxedCommands: optional(checkBoolean),
  });
}

/** The key goes into a header. */
function checkApiKey(value: unknown, field: string): void {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  const rule = "must be one word of ASCII";
  const remedy = "give the key as Anthropic shows it, without spaces or a line's end";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkAddress(value: unknown, field: string): void {
  const url = typeof value === "string" && /^https?:\/\/\S+$/i.test(value) && URL.parse(value);
  if (url && url.username === "" && url.password === "") return;
  const secret = typeof value === "string" && value.includes("@"); // it may contain a password
  const rule = "must be an http: or https: address without user and password";
  const remedy = 'write one like "https://api.anthropic.com", and give the key as apiKey';
  throw new PromptValidationError({ field, value, rule, remedy, secret });
}
