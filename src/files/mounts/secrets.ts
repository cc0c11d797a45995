import { globMatcher } from "../filesystem/glob.ts";

/**
 * Whether a file of this name, in this folder, is one that people keep keys in. Only the path is
 * looked at, and its case is not.
 */
export function isSecretPath(hostPath: string): boolean {
  const path = hostPath.toLowerCase();
  const name = path.slice(path.lastIndexOf("/") + 1);
  return NAMES.has(name) || isEnvFile(name) || KEY_FILE.test(name) || IN_FOLDER.test(path);
}

/** Says which withheld paths the caller asked for, by what `withheld` calls them or by glob. */
export function secretsAllowedBy(allowed: readonly string[]): (path: string) => boolean {
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
