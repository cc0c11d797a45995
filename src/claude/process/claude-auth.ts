import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import type { IsolationConfig } from "../isolation.ts";

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** Thrown before the SDK starts if credentials for the model's provider are missing. */
export class IsolationAuthError extends InvalidOptionError {
  override readonly name = "IsolationAuthError";
}

/** The credentials of the SDK's process for the model's provider. */
export interface ClaudeAuth {
  readonly kind: "apiKey" | "oauthToken" | "authToken" | "bedrock" | "vertex";
  /** Environment variables for the process. */
  readonly variables: Variables;
  /** A secret to pass through a pipe instead of an environment variable; `null` for none. */
  readonly pipedSecret: string | null;
  /** Values to redact in errors and events. */
  readonly secrets: readonly string[];
}

/** The file descriptor of the pipe for the secret: the first after stdin, stdout and stderr. */
export const SECRET_DESCRIPTOR = 3;

/**
 * Returns the first credentials found: the config's key, a key in the environment, a token, Bedrock,
 * Vertex. `configured` holds the variables from the options, `host` this process's variables.
 */
export function resolveAuth(
  { apiKey, inheritAuth = true }: IsolationConfig,
  configured: Variables,
  host: Variables,
): ClaudeAuth {
  const available = inheritAuth ? { ...host, ...configured } : configured;
  const key = apiKey ?? available["ANTHROPIC_API_KEY"];
  if (key) return passByPipe("apiKey", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", key);
  const token = available["ANTHROPIC_AUTH_TOKEN"];
  if (token) return passByEnvironment("authToken", { ANTHROPIC_AUTH_TOKEN: token });
  const login = available["CLAUDE_CODE_OAUTH_TOKEN"];
  if (login) return passByPipe("oauthToken", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", login);
  if (isTruthy(available["CLAUDE_CODE_USE_BEDROCK"]) && hasVariable(available, /^AWS_/)) {
    return passByEnvironment("bedrock", {
      ...findAwsFiles(host),
      ...pickVariables(available, BEDROCK),
    });
  }
  if (isTruthy(available["CLAUDE_CODE_USE_VERTEX"])) {
    return passByEnvironment("vertex", {
      ...findGoogleFiles(host),
      ...pickVariables(available, VERTEX),
    });
  }
  throw new IsolationAuthError({
    field: "isolation.apiKey",
    value: undefined,
    rule: "must be set, unless the environment has a key, a token, Bedrock or Vertex credentials",
    remedy: inheritAuth
      ? "set ANTHROPIC_API_KEY, or pass isolation: { apiKey }"
      : "pass isolation: { apiKey }, or set inheritAuth to true",
  });
}

/** Variables that select credentials. Only variables of the selected credentials are set. */
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
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD/;

/** The SDK reads the pipe once. Commands would inherit an environment variable. */
function passByPipe(kind: ClaudeAuth["kind"], descriptor: string, secret: string): ClaudeAuth {
  const variables = { [descriptor]: String(SECRET_DESCRIPTOR) };
  return { kind, variables, pipedSecret: secret, secrets: [secret] };
}

function passByEnvironment(kind: ClaudeAuth["kind"], variables: Variables): ClaudeAuth {
  const secretEntries = Object.entries(variables).filter(
    ([name, text]) => SECRET_NAME.test(name) && text,
  );
  return { kind, variables, pipedSecret: null, secrets: secretEntries.map(([, text]) => text) };
}

function isTruthy(text: string | undefined): boolean {
  return text !== undefined && /^(1|true|yes|on)$/i.test(text);
}

function hasVariable(variables: Variables, names: RegExp): boolean {
  return Object.keys(variables).some((name) => names.test(name));
}

function pickVariables(variables: Variables, names: RegExp): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.test(name)));
}

/** Finds profiles in the user's real home, because the process gets a different home. */
function findAwsFiles(host: Variables): Variables {
  return findExistingFiles(host, {
    AWS_CONFIG_FILE: ".aws/config",
    AWS_SHARED_CREDENTIALS_FILE: ".aws/credentials",
  });
}

function findGoogleFiles(host: Variables): Variables {
  return findExistingFiles(host, { CLOUDSDK_CONFIG: ".config/gcloud" });
}

function findExistingFiles(host: Variables, paths: Variables): Variables {
  const home = host["HOME"];
  if (!home) return {};
  const files = Object.entries(paths).map(([name, path]) => [name, join(home, path)] as const);
  return Object.fromEntries(files.filter(([, path]) => existsSync(path)));
}
