import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import type { IsolationConfig } from "../isolation.ts";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** There is nothing to show to the model's provider; nothing was started. */
export class IsolationAuthError extends InvalidOptionError {
  override readonly name = "IsolationAuthError";
}

/** How the SDK's process shows the model's provider who it is. */
export interface ClaudeAuth {
  readonly kind: "apiKey" | "oauthToken" | "authToken" | "bedrock" | "vertex";
  /** What the process itself gets to see of it. */
  readonly variables: Variables;
  /** What goes through a pipe instead, so that no environment ever has it; `null` for nothing. */
  readonly handed: string | null;
  /** All that must be told to nobody. */
  readonly secrets: readonly string[];
}

/** The pipe's place among the process's descriptors: the first after the three that all have. */
export const SECRET_DESCRIPTOR = 3;

/**
 * Picks the first there is: the config's key, a key in the environment, a token there, Bedrock, Vertex.
 * `given` are the variables that the caller gave, `host` are this process's own.
 */
export function claudeAuth(
  { apiKey, inheritAuth = true }: IsolationConfig,
  given: Variables,
  host: Variables,
): ClaudeAuth {
  const known = inheritAuth ? { ...host, ...given } : given;
  const key = apiKey ?? known["ANTHROPIC_API_KEY"];
  if (key) return handedOver("apiKey", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", key);
  const token = known["ANTHROPIC_AUTH_TOKEN"];
  if (token) return inEnvironment("authToken", { ANTHROPIC_AUTH_TOKEN: token });
  const login = known["CLAUDE_CODE_OAUTH_TOKEN"];
  if (login) return handedOver("oauthToken", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", login);
  if (isOn(known["CLAUDE_CODE_USE_BEDROCK"]) && hasAny(known, /^AWS_/)) {
    return inEnvironment("bedrock", { ...awsFiles(host), ...only(known, BEDROCK) });
  }
  if (isOn(known["CLAUDE_CODE_USE_VERTEX"])) {
    return inEnvironment("vertex", { ...googleFiles(host), ...only(known, VERTEX) });
  }
  throw new IsolationAuthError({
    field: "isolation.apiKey",
    value: undefined,
    rule: "must be given unless the environment has a key, a token, Bedrock or Vertex",
    remedy: inheritAuth
      ? "set ANTHROPIC_API_KEY, or give isolation: { apiKey }"
      : "give isolation: { apiKey }, or let inheritAuth be true",
  });
}

/** What says who one is: none of them is passed on unless it was picked. */
export const AUTH_VARIABLES: readonly string[] = Object.freeze([
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CLAUDE_CODE_USE_BEDROCK",
  "CLAUDE_CODE_USE_VERTEX",
]);

const BEDROCK = /^(AWS_.*|ANTHROPIC_BEDROCK_.*|CLAUDE_CODE_(USE|SKIP)_BEDROCK.*)$/;
const VERTEX =
  /^(GOOGLE_.*|GCLOUD_PROJECT|CLOUDSDK_.*|CLOUD_ML_REGION|VERTEX_REGION_.*|ANTHROPIC_VERTEX_.*|CLAUDE_CODE_(USE|SKIP)_VERTEX.*)$/;
const TELLS = /KEY|TOKEN|SECRET|PASSWORD/;

/** The SDK reads it from the pipe once: commands would inherit a variable. */
function handedOver(kind: ClaudeAuth["kind"], descriptor: string, secret: string): ClaudeAuth {
  const variables = { [descriptor]: String(SECRET_DESCRIPTOR) };
  return { kind, variables, handed: secret, secrets: [secret] };
}

function inEnvironment(kind: ClaudeAuth["kind"], variables: Variables): ClaudeAuth {
  const telling = Object.entries(variables).filter(([name, text]) => TELLS.test(name) && text);
  return { kind, variables, handed: null, secrets: telling.map(([, text]) => text) };
}

function isOn(text: string | undefined): boolean {
  return text !== undefined && /^(1|true|yes|on)$/i.test(text);
}

function hasAny(variables: Variables, names: RegExp): boolean {
  return Object.keys(variables).some((name) => names.test(name));
}

function only(variables: Variables, names: RegExp): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.test(name)));
}

/** Profiles are in the real home, and the process has another. */
function awsFiles(host: Variables): Variables {
  return found(host, {
    AWS_CONFIG_FILE: ".aws/config",
    AWS_SHARED_CREDENTIALS_FILE: ".aws/credentials",
  });
}

function googleFiles(host: Variables): Variables {
  return found(host, { CLOUDSDK_CONFIG: ".config/gcloud" });
}

function found(host: Variables, paths: Variables): Variables {
  const home = host["HOME"];
  if (!home) return {};
  const places = Object.entries(paths).map(([name, path]) => [name, join(home, path)] as const);
  return Object.fromEntries(places.filter(([, path]) => existsSync(path)));
}
