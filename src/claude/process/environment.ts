import type { IsolationConfig } from "../isolation.ts";
import { AUTH_VARIABLES, type ClaudeAuth, claudeAuth, type Variables } from "./claude-auth.ts";

/** What the environment of one run is made from. */
export interface EnvironmentSources {
  readonly isolation: IsolationConfig;
  /** Where the process believes its user to live, and where its temporary files go. */
  readonly home: string;
  readonly temporary: string;
  /** Over what the isolation has. @default none */
  readonly env?: Variables | undefined;
  /** @default this process's own */
  readonly host?: Variables | undefined;
}

/** The whole environment of the SDK's process, and what it gets besides. */
export interface ClaudeEnvironment {
  readonly variables: Variables;
  readonly auth: ClaudeAuth;
}

/**
 * Says what the SDK's process sees: of this process's environment only what is harmless, a home of
 * its own, and what was given. Throws `IsolationAuthError` where there are no credentials.
 */
export function claudeEnvironment(sources: EnvironmentSources): ClaudeEnvironment {
  const { isolation, host = hostVariables() } = sources;
  const given = { ...isolation.env, ...sources.env };
  const auth = claudeAuth(isolation, given, host);
  const address = isolation.baseURL ?? given["ANTHROPIC_BASE_URL"] ?? host["ANTHROPIC_BASE_URL"];
  const variables: Record<string, string> = {
    ...passedOn(host, isolation.includeHostEnv ?? false),
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

/** The SDK asks nobody but the model, keeps nothing, and leaves nothing running. */
const SWITCHES: Variables = Object.freeze({
  TERM: "dumb",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  // A command that ends after the answer would make the model speak again.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  // Nobody listens: a model that works need not report.
  CLAUDE_CODE_SILENT_TURN_REMINDER: "0",
  // Only then does it say how long the provider asks to wait.
  CLAUDE_CODE_MAX_RETRIES: "1",
  BASH_DEFAULT_TIMEOUT_MS: "120000",
  BASH_MAX_TIMEOUT_MS: "600000",
});

const HARMLESS =
  /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|(HTTPS?|NO)_PROXY|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/;

/** Whose they are, and what tells secrets; the rest of an environment may be anything. */
const SENSITIVE = [
  /^(HOME|USER|LOGNAME|MAIL|TMPDIR|TMP|TEMP|PWD|OLDPWD|XDG_.*|SSH_.*|GPG_.*|SUDO_.*|DBUS_.*)$/i,
  /^(CLAUDE|ANTHROPIC|AWS|GOOGLE|GCLOUD|CLOUDSDK|OPENAI|AZURE|GITHUB|GITLAB|GH|NPM|DOCKER|KUBE|VAULT|WINK)/i,
  /(TOKEN|SECRET|KEY|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|DSN|PAT)S?$/i,
  /(^|_)(TOKEN|SECRET|PASSWORD|CREDENTIALS?|APIKEY|API_KEY|PRIVATE_KEY)(_|$)/i,
  // These have the SDK, a shell or Node load or run something of somebody else's.
  /^(NODE_OPTIONS|BUN_.*|LD_.*|DYLD_.*|BASH_ENV|ENV|PROMPT_COMMAND|BASH_FUNC_.*)$/i,
];

/** A value such as `postgres://user:password@host` tells a secret under any name. */
const TELLING_VALUE = /:\/\/[^/\s]*@/;

function passedOn(host: Variables, all: boolean): Record<string, string> {
  const entries = Object.entries(host).filter(
    ([name, text]) => HARMLESS.test(name) || (all && isUntelling(name, text)),
  );
  return Object.fromEntries(entries);
}

function isUntelling(name: string, text: string): boolean {
  return !SENSITIVE.some((pattern) => pattern.test(name)) && !TELLING_VALUE.test(text);
}
