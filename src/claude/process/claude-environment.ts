import type { IsolationConfig } from "../isolation.ts";
import { AUTH_VARIABLES, type ClaudeAuth, resolveAuth, type Variables } from "./claude-auth.ts";

/** Sources of one run's environment variables. */
export interface EnvironmentSources {
  readonly isolation: IsolationConfig;
  /** The folder for `HOME`. */
  readonly home: string;
  /** The folder for `TMPDIR`. */
  readonly temporary: string;
  /** Overrides `isolation.env`. @default none */
  readonly env?: Variables | undefined;
  /** The variables of this process. @default `process.env` */
  readonly host?: Variables | undefined;
}

/** The environment variables of the SDK's process, and its credentials. */
export interface ClaudeEnvironment {
  readonly variables: Variables;
  readonly auth: ClaudeAuth;
}

/**
 * Builds the environment of the SDK's process: the harmless variables of this process, a separate
 * home, and the variables from the options. Throws `IsolationAuthError` if credentials are missing.
 */
export function createClaudeEnvironment(sources: EnvironmentSources): ClaudeEnvironment {
  const { isolation, host = readHostVariables() } = sources;
  const configured = { ...isolation.env, ...sources.env };
  const auth = resolveAuth(isolation, configured, host);
  const address =
    isolation.baseURL ?? configured["ANTHROPIC_BASE_URL"] ?? host["ANTHROPIC_BASE_URL"];
  const variables: Record<string, string> = {
    ...filterHostVariables(host, isolation.includeHostEnv ?? false),
    ...SWITCHES,
    HOME: sources.home,
    CLAUDE_CONFIG_DIR: `${sources.home}/.claude`,
    TMPDIR: sources.temporary,
    ...configured,
    ...(address && { ANTHROPIC_BASE_URL: address }),
  };
  for (const name of AUTH_VARIABLES) delete variables[name];
  Object.assign(variables, auth.variables);
  return { variables: Object.freeze(variables), auth };
}

/** Returns the environment variables of this process. */
export function readHostVariables(): Variables {
  const entries = Object.entries(process.env);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Makes the SDK contact only the model, store no data, and run no background tasks. */
const SWITCHES: Variables = Object.freeze({
  TERM: "dumb",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  // A command that ends after the model's answer would start another turn.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // Progress reports are unused.
  CLAUDE_CODE_SILENT_TURN_REMINDER: "0",
  // With more retries the SDK does not report the provider's Retry-After.
  CLAUDE_CODE_MAX_RETRIES: "1",
  BASH_DEFAULT_TIMEOUT_MS: "120000",
  BASH_MAX_TIMEOUT_MS: "600000",
});

const HARMLESS =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|(HTTPS?|NO)_PROXY|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/;

/** Variables that identify the user, may contain secrets, or load other code. */
const SENSITIVE = [
  /^(HOME|USER|LOGNAME|MAIL|TMPDIR|TMP|TEMP|PWD|OLDPWD|XDG_.*|SSH_.*|GPG_.*|SUDO_.*|DBUS_.*)$/i,
  /^(CLAUDE|ANTHROPIC|AWS|GOOGLE|GCLOUD|CLOUDSDK|OPENAI|AZURE|GITHUB|GITLAB|GH|NPM|DOCKER|KUBE|VAULT|WINK)/i,
  /(TOKEN|SECRET|KEY|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|DSN|PAT)S?$/i,
  /(^|_)(TOKEN|SECRET|PASSWORD|CREDENTIALS?|APIKEY|API_KEY|PRIVATE_KEY)(_|$)/i,
  // Make the SDK, a shell or Node load other code.
  /^(NODE_OPTIONS|BUN_.*|LD_.*|DYLD_.*|BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*)$/i,
];

/** A value such as `postgres://user:password@host` is a secret, regardless of the variable's name. */
const URL_WITH_CREDENTIALS = /:\/\/[^/\s]*@/;

function filterHostVariables(host: Variables, includeAll: boolean): Record<string, string> {
  const entries = Object.entries(host).filter(
    ([name, text]) => HARMLESS.test(name) || (includeAll && isSafeToPass(name, text)),
  );
  return Object.fromEntries(entries);
}

function isSafeToPass(name: string, text: string): boolean {
  return !SENSITIVE.some((pattern) => pattern.test(name)) && !URL_WITH_CREDENTIALS.test(text);
}
