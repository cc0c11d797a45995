import type { IsolationConfig } from "../isolation.ts";
import { AUTH_VARIABLES, type ClaudeAuth, claudeAuth, type Variables } from "./claude-auth.ts";

/** What the environment of one run is built from. */
export interface EnvironmentSources {
  readonly isolation: IsolationConfig;
  /** The folders for `HOME` and `TMPDIR`. */
  readonly home: string;
  readonly temporary: string;
  /** Overrides the isolation's own. @default none */
  readonly env?: Variables | undefined;
  /** The variables of this process. @default those of `process.env` */
  readonly host?: Variables | undefined;
}

/** The environment of the SDK's process, and its credentials. */
export interface ClaudeEnvironment {
  readonly variables: Variables;
  readonly auth: ClaudeAuth;
}

/**
 * Builds the environment of the SDK's process: the harmless variables of this process, a home of its
 * own, and the variables from the options. Throws `IsolationAuthError` if there are no credentials.
 */
export function claudeEnvironment(sources: EnvironmentSources): ClaudeEnvironment {
  const { isolation, host = hostVariables() } = sources;
  const given = { ...isolation.env, ...sources.env };
  const auth = claudeAuth(isolation, given, host);
  const address = isolation.baseURL ?? given["ANTHROPIC_BASE_URL"] ?? host["ANTHROPIC_BASE_URL"];
  const variables: Record<string, string> = {
    ...filterHost(host, isolation.includeHostEnv ?? false),
    ...SWITCHES,
    HOME: sources.home,
    CLAUDE_CONFIG_DIR: `${sources.home}/.claude`,
    TMPDIR: sources.temporary,
    ...given,
    ...(address && { ANTHROPIC_BASE_URL: address }),
  };
  for (const name of AUTH_VARIABLES) delete variables[name];
  Object.assign(variables, auth.variables);
  return { variables: Object.freeze(variables), auth };
}

/** Returns the environment variables of this process. */
export function hostVariables(): Variables {
  const entries = Object.entries(process.env);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The SDK contacts only the model, stores nothing, and leaves nothing running. */
const SWITCHES: Variables = Object.freeze({
  TERM: "dumb",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  // A command that ends after the answer would start another turn.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // No one reads progress reports.
  CLAUDE_CODE_SILENT_TURN_REMINDER: "0",
  // Otherwise the SDK does not report how long the provider asks to wait.
  CLAUDE_CODE_MAX_RETRIES: "1",
  BASH_DEFAULT_TIMEOUT_MS: "120000",
  BASH_MAX_TIMEOUT_MS: "600000",
});

const HARMLESS =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|(HTTPS?|NO)_PROXY|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/;

/** Variables that identify the user or may hold secrets. */
const SENSITIVE = [
  /^(HOME|USER|LOGNAME|MAIL|TMPDIR|TMP|TEMP|PWD|OLDPWD|XDG_.*|SSH_.*|GPG_.*|SUDO_.*|DBUS_.*)$/i,
  /^(CLAUDE|ANTHROPIC|AWS|GOOGLE|GCLOUD|CLOUDSDK|OPENAI|AZURE|GITHUB|GITLAB|GH|NPM|DOCKER|KUBE|VAULT|WINK)/i,
  /(TOKEN|SECRET|KEY|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|DSN|PAT)S?$/i,
  /(^|_)(TOKEN|SECRET|PASSWORD|CREDENTIALS?|APIKEY|API_KEY|PRIVATE_KEY)(_|$)/i,
  // These make the SDK, a shell or Node load or run other code.
  /^(NODE_OPTIONS|BUN_.*|LD_.*|DYLD_.*|BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*)$/i,
];

/** A value such as `postgres://user:password@host` is a secret under any name. */
const TELLING_VALUE = /:\/\/[^/\s]*@/;

function filterHost(host: Variables, all: boolean): Record<string, string> {
  const entries = Object.entries(host).filter(
    ([name, text]) => HARMLESS.test(name) || (all && isSafeToPass(name, text)),
  );
  return Object.fromEntries(entries);
}

function isSafeToPass(name: string, text: string): boolean {
  return !SENSITIVE.some((pattern) => pattern.test(name)) && !TELLING_VALUE.test(text);
}
