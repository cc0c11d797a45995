import { isAbsolute } from "node:path";
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
import {
  checkNetworkPolicy,
  type NetworkAllowlist,
  type NetworkDisabled,
  type NetworkPolicy,
} from "../tools/hosted/network-policy.ts";

/** What the SDK's process, and the commands a model has it run, see of this machine. */
export interface IsolationConfig {
  /** What commands may reach. Neither the model nor your own tools are bound by it. @default nothing */
  readonly networkPolicy?: NetworkPolicy | undefined;
  readonly sandbox?: SandboxConfig | undefined;
  /** Variables for the SDK's process, which commands see too. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default what the environment has: `ANTHROPIC_API_KEY`, a token, Bedrock or Vertex */
  readonly apiKey?: string | undefined;
  /** Where requests go. @default the environment's `ANTHROPIC_BASE_URL`, or Anthropic */
  readonly baseURL?: string | undefined;
  /** Passes on this process's variables, but none that looks like a secret. @default false */
  readonly includeHostEnv?: boolean | undefined;
  /** Whether credentials may come from this process's environment. @default true */
  readonly inheritAuth?: boolean | undefined;
}

/** What binds the commands that a model writes. */
export interface SandboxConfig {
  /** `false` runs commands with all that your user may do. @default true */
  readonly enabled?: boolean | undefined;
  /** Where the model may write besides the workspace: absolute paths. @default none */
  readonly writablePaths?: readonly string[] | undefined;
  /** What it may read though it is in a home or temporary folder: absolute paths. @default none */
  readonly readablePaths?: readonly string[] | undefined;
  /** Commands that run outside: `"docker *"`. @default none */
  readonly excludedCommands?: readonly string[] | undefined;
  /** Whether the model may ask for a command to run outside. @default false */
  readonly allowUnsandboxedCommands?: boolean | undefined;
}

/** Commands reach nothing, which is also what they reach if nothing is said. */
export function noNetwork(): NetworkDisabled {
  return Object.freeze({ type: "disabled" });
}

/** Commands reach these hosts and no others. */
export function withDomains(...domains: readonly string[]): NetworkAllowlist {
  const policy = { type: "allowlist", allowedDomains: Object.freeze([...domains]) } as const;
  checkNetworkPolicy(policy, "networkPolicy");
  return Object.freeze(policy);
}

/** A frozen copy of a config; refuses what is none, and quotes no secret. */
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

/** Refuses what is no list of variables by name; their values are not quoted. */
export function checkVariables(value: unknown, field: string): void {
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

/** Refuses a path that the SDK would resolve or read as a pattern. */
export function checkPlainPath(value: unknown, field: string): void {
  if (typeof value === "string" && isAbsolute(value) && !/[*?[\]{}()!\\\p{Cc}]/u.test(value))
    return;
  throw new PromptValidationError({
    field,
    value,
    rule: "must be an absolute path without any of * ? [ ] { } ( ) ! \\",
    remedy: 'write the whole path, like "/opt/data"; a folder stands for all below it',
  });
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

/** It goes into a header. */
function checkApiKey(value: unknown, field: string): void {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  const rule = "must be one word of ASCII";
  const remedy = "give the key as Anthropic shows it, without spaces or a line's end";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkAddress(value: unknown, field: string): void {
  const url = typeof value === "string" && /^https?:\/\/\S+$/i.test(value) && URL.parse(value);
  if (url && url.username === "" && url.password === "") return;
  const secret = typeof value === "string" && value.includes("@"); // there may be a password in it
  const rule = "must be an http: or https: address without user and password";
  const remedy = 'write one like "https://api.anthropic.com", and give the key as apiKey';
  throw new PromptValidationError({ field, value, rule, remedy, secret });
}
