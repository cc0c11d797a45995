import { globMatcher } from "../filesystem/glob.ts";

/** Whether a file usually contains keys or credentials. Checks only the path, ignoring case. */
export function isSecretFile(hostPath: string): boolean {
  const path = hostPath.toLowerCase();
  const name = path.slice(path.lastIndexOf("/") + 1);
  return NAMES.has(name) || isEnvFile(name) || KEY_FILE.test(name) || IN_FOLDER.test(path);
}

/** Creates a predicate for the secret files that the caller allows, by path or by glob. */
export function secretAllowlist(allowed: readonly string[]): (path: string) => boolean {
  const names = new Set(allowed);
  const matchers = allowed.map(globMatcher);
  return (path) => names.has(path) || matchers.some((matches) => matches(path));
}

const NAMES: ReadonlySet<string> = new Set([
  "id_dsa",
  "id_ecdsa",
  "id_ecdsa_sk",
  "id_ed25519",
  "id_ed25519_sk",
  "id_rsa",
  ".boto",
  ".dockercfg",
  ".envrc",
  ".git-credentials",
  ".htpasswd",
  ".my.cnf",
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pgpass",
  ".pypirc",
  ".s3cfg",
  ".vault-token",
  "application_default_credentials.json",
]);

const KEY_FILE =
  /\.(?:pem|key|p8|p12|pfx|pkcs12|kdb|kdbx|jks|keystore|ppk)$|^(?:.*service[-_]?account.*|.*-firebase-adminsdk-.*|client_secret.*)\.json$/;

const IN_FOLDER =
  /\/(?:\.ssh|\.gnupg)\/|\/(?:\.aws\/credentials|\.cargo\/credentials(?:\.toml)?|\.docker\/config\.json|\.gem\/credentials|\.kube\/config|\.config\/gh\/hosts\.yml)$/;

function isEnvFile(name: string): boolean {
  if (!/(?:^\.env(?:[._-]|$)|\.env$)/.test(name)) return false;
  return !/\.(?:example|sample|template)$/.test(name);
}
