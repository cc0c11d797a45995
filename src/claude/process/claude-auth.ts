import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import type { IsolationConfig } from "../isolation.ts";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** Thrown if there are no credentials for the model's provider. Nothing was started. */
export class IsolationAuthError extends InvalidOptionError {
  override readonly name = "IsolationAuthError";
}

/** How the SDK's process authenticates with the model's provider. */
export interface ClaudeAuth {
  readonly kind: "apiKey" | "oauthToken" | "authToken" | "bedrock" | "vertex";
  /** Environment variables for the process. */
  readonly variables: Variables;
  /** A secret to pass through a pipe, so that it is in no environment; `null` for none. */
  readonly handed: string | null;
  /** Values that no error or event may contain. */
  readonly secrets: readonly string[];
}

/** The file descriptor of that pipe: the first after stdin, stdout and stderr. */
export const SECRET_DESCRIPTOR = 3;

/**
 * Picks the first credentials found: the config's key, a key in the environment, a token, Bedrock, Vertex.
 * `given` are the variables from the options, `host` are those of this process.
 */
export function claudeAuth(
  { apiKey, inheritAuth = true }: IsolationConfig,
  given: Variables,
  host: Variables,
): ClaudeAuth {
  const known = inheritAuth ? { ...host, ...given } : given;
  const key = apiKey ?? known["ANTHROPIC_API_KEY"];
  if (key) return passByPipe("apiKey", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", key);
  const token = known["ANTHROPIC_AUTH_TOKEN"];
  if (token) return passByEnvironment("authToken", { ANTHROPIC_AUTH_TOKEN: token });
  const login = known["CLAUDE_CODE_OAUTH_TOKEN"];
  if (login) return passByPipe("oauthToken", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", login);
  if (isOn(known["CLAUDE_CODE_USE_BEDROCK"]) && hasAny(known, /^AWS_/)) {
    return passByEnvironment("bedrock", { ...awsFiles(host), ...pick(known, BEDROCK) });
  }
  if (isOn(known["CLAUDE_CODE_USE_VERTEX"])) {
    return passByEnvironment("vertex", { ...googleFiles(host), ...pick(known, VERTEX) });
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

/** Variables that select credentials. They are passed on only if they were picked. */
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

/** The SDK reads a pipe once, whereas commands would inherit a variable. */
function passByPipe(kind: ClaudeAuth["kind"], descriptor: string, secret: string): ClaudeAuth {
  const variables = { [descriptor]: String(SECRET_DESCRIPTOR) };
  return { kind, variables, handed: secret, secrets: [secret] };
}

function passByEnvironment(kind: ClaudeAuth["kind"], variables: Variables): ClaudeAuth {
  const telling = Object.entries(variables).filter(([name, text]) => TELLS.test(name) && text);
  return { kind, variables, handed: null, secrets: telling.map(([, text]) => text) };
}

function isOn(text: string | undefined): boolean {
  return text !== undefined && /^(1|true|yes|on)$/i.test(text);
}

function hasAny(variables: Variables, names: RegExp): boolean {
  return Object.keys(variables).some((name) => names.test(name));
}

function pick(variables: Variables, names: RegExp): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.test(name)));
}

/** Profiles are in the user's real home, which is not the home of the process. */
function awsFiles(host: Variables): Variables {
  return findFiles(host, {
    AWS_CONFIG_FILE: ".aws/config",
    AWS_SHARED_CREDENTIALS_FILE: ".aws/credentials",
  });
}

function googleFiles(host: Variables): Variables {
  return findFiles(host, { CLOUDSDK_CONFIG: ".config/gcloud" });
}

function findFiles(host: Variables, paths: Variables): Variables {
  const home = host["HOME"];
  if (!home) return {};
  const places = Object.entries(paths).map(([name, path]) => [name, join(home, path)] as const);
  return Object.fromEntries(places.filter(([, path]) => existsSync(path)));
}
