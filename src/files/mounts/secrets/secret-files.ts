import { globMatcher } from "../../filesystem/glob.ts";

/**
 * Whether a file usually contains keys or credentials. Checks only the path: ignores case, and the marks that editors,
 * browsers and people add to the name of a copy.
 */
export function isSecretFile(hostPath: string): boolean {
  const path = hostPath.toLowerCase();
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (EXAMPLE.test(name)) return false;
  if (isSecretName(name) || IN_FOLDER.test(path)) return true;
  const original = MARKED.test(name) ? removeMarks(name) : name;
  if (original === name || EXAMPLE.test(original)) return false;
  return isSecretName(original) || IN_FOLDER.test(path.slice(0, -name.length) + original);
}

/** Creates a predicate for the secret files that the caller allows, by path or by glob. */
export function secretAllowlist(allowed: readonly string[]): (path: string) => boolean {
  const names = new Set(allowed);
  const matchers = allowed.map(globMatcher);
  return (path) => names.has(path) || matchers.some((matches) => matches(path));
}

/** Files that show what to fill in. */
const EXAMPLE =
  /[._-](?:example|sample|template|tmpl|tpl|dist|schema)(?:\.(?:json|ya?ml|toml|ini|txt))?$/;

/** Folders whose files are secret, and secret files whose names are ordinary elsewhere. */
const IN_FOLDER = new RegExp(
  [
    "/\\.(?:ssh|gnupg|aws|azure|kube|oci|password-store|bluemix|bitcoin|electrum|ethereum)/",
    "/\\.config/(?:gcloud|op|doctl|sops|github-copilot|rclone|containers|composer)/",
    "/library/keychains/",
    "/\\.(?:cargo|gem|pulumi|terraform\\.d|composer|gemini|codex|claude)/(?:\\.?credentials|auth)(?:\\.\\w+)*$",
    "/\\.docker/config\\.json$",
    "/\\.config/(?:gh/hosts\\.yml|hub|configstore/.*\\.json)$",
    "/\\.(?:m2/settings\\.xml|snowsql/config|bundle/config|databrickscfg)$",
    "/\\.git/(?:.*/)?config(?:\\.worktree)?$",
    "/etc/(?:master\\.passwd|g?shadow)-?$",
  ].join("|"),
);

/** Whether a name may be that of a copy, so that most names are not taken apart. */
const MARKED =
  /[~#\s()]|\p{Cf}|\P{ASCII}|[._-](?:bak|back|old|ori|sav|copy|prev|tmp|sw[a-p]$|\d|g?z|bz2|xz|zst|zip|tar|tgz|rar|7z)|\.$|^\./u;

/** The marks of copies, archives and editors, at the start of a name, before its ending and at its end. */
const MARKS: readonly RegExp[] = [
  /^(?:copy(?: \(\d+\))? of |#|~\$|\.#|\._)/,
  /(?:~|#|\.|\s)$/,
  /[._-](?:bak|backup|old|orig|original|saved?|copy|prev|previous|tmp|temp|sw[a-p])\d*$/,
  /[._-](?:\d{1,3}|v\d+|\d{4}-?\d{2}-?\d{2}(?:[t_-]?\d{4,6})?)$/,
  /\.(?:g?z|bz2|xz|zst|zip|tar|tgz|rar|7z)$/,
  /(?:\s?-?\s?copy)?\s?\(\d+\)(?=\.\w+$|$)|\s-?\s?copy(?:\s\d+)?(?=\.\w+$|$)/,
  /[._-](?:bak|backup|old|orig|copy|\d{1,3}|\d{4}-?\d{2}-?\d{2})(?=\.(?:json|ya?ml|xml|pem|key|env|tfvars|txt)$)/,
];

/** Returns the name that a copy was made of: `id_rsa` of `id_rsa.bak`, and `.env` of `.env.swp~`. */
function removeMarks(given: string): string {
  let name = given.normalize("NFKC").replace(/\p{Cf}/gu, "");
  for (let round = 0; round < MAX_MARKS; round++) {
    const mark = MARKS.find((pattern) => pattern.test(name));
    if (mark === undefined) break;
    name = name.replace(mark, "");
  }
  // Vim puts a dot before the name of a swap file.
  return given.startsWith(".") && SWAP.test(given) && !isSecretName(name) ? name.slice(1) : name;
}

const MAX_MARKS = 5;
const SWAP = /\.sw[a-p]$/;

/**
 * Names of files that usually contain keys or credentials, collected from what secret scanners look for. All names are
 * in lower case and without the marks of a copy, such as `.bak`.
 */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  // Shells, mail, databases and transfers of files
  ...[".dbshell", ".dockercfg", ".dockerconfigjson", ".esmtprc", ".fetchmailrc", ".flaskenv"],
  ...[".ftpconfig", ".ftppass", ".history", ".htdigest", ".htpasswd", ".msmtprc", ".my.cnf"],
  ...[".mylogin.cnf", ".netrc", "_netrc", ".passwd", ".passwd-s3fs", ".pgpass", "pgpass.conf"],
  ...[".remote-sync.json", "sftp-config.json", "sftp.json", "recentservers.xml", "sitemanager.xml"],
  ...["filezilla.xml", "winscp.ini", "proftpdpasswd", "robomongo.json", "credentials-config.json"],
  ...[".dbeaver-data-sources.xml", "master.passwd"],
  // Package managers and build tools
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", "pip.conf", "pip.ini", ".condarc"],
  ...["nuget.config", "gradle.properties", "settings-security.xml", "auth.json", ".envrc"],
  // Clouds, clusters and infrastructure
  ...[".boto", ".s3cfg", ".tugboat", ".vault-token", ".vault_pass", ".vault-password"],
  ...["vault_pass", "vault-password", "vault_password", "encrypted_data_bag_secret", "knife.rb"],
  ...[".terraformrc", "terraform.rc", "credentials.tfrc.json", "rclone.conf", "adc.json"],
  ...["application_default_credentials.json", "client_id.json", "kube.config", ".dev.vars"],
  ...["accesskeys.csv", "rootkey.csv", ".git-credentials", ".gitconfig"],
  // Web frameworks
  ...["database.yml", "localsettings.php", "secret_token.rb", "wp-config.php"],
  // Command lines of models, and tokens
  ...["token", ".token", ".tokens", "token.json", "token.txt", "oauth_creds.json", ".claude.json"],
  // Browsers, password managers and wallets
  ...["key3.db", "key4.db", "logins.json", "signons.sqlite", "cookies.sqlite", "login data"],
  ...["wallet.dat", "secring.gpg", "secring.kbx", "1password.sqlite"],
]);

/** Names of key files, by their ending. */
const KEY_ENDING =
  /\.(?:pem|key|p8|p12|pfx|pkcs8|pkcs12|kdb|kdbx|jks|jceks|bks|keystore|ppk|keytab|ovpn|psafe3|agilekeychain|opvault|keychain|keychain-db|tfstate|tfvars|tfvars\.json|kubeconfig|mobileconfig|cscfg|gnucash)(?:\.txt)?$/;

/** Private keys of SSH, also by other names than its own, such as `deploy_rsa`. */
const SSH_KEY = /(?:^|[._-])(?:rsa|dsa|ecdsa|ed25519)(?:[_-]sk)?(?:\.txt)?$|^ssh_host_.*key$/;

/** Files of settings, as opposed to code and prose, which may be named after the same things. */
const SETTINGS = "(?:json|ya?ml|xml|ini|toml|csv|properties|txt|cfg|conf|config|db|env|plist|php)";
const CREDENTIALS = new RegExp(
  `(?:^|[._-])(?:credentials?|creds|secrets?|api[_-]?keys?|access[_-]?(?:tokens?|keys?)|auth[_-]?tokens?|private[_-]?keys?|secret[_-]?keys?)(?:\\.${SETTINGS})?$`,
);
const PASSWORDS =
  /(?:^|[._-])(?:passwords?|passphrases?|passwd)(?:\.(?:txt|csv|xlsx?|ini|cfg|conf))?$/;

/** Accounts of Google's services, which are downloaded with long names. */
const ACCOUNT =
  /^(?:.*service[-_]?account.*|.*-firebase-adminsdk-.*|client[-_]?secrets?.*|gcp[-_]?key.*)\.json$/;

/** Input that shells and database clients record, configurations of clusters, tickets of Kerberos, keys of Ethereum. */
const OTHERS = /_history$|^\..*history$|^kubeconfig(?:[._-].*)?$|^krb5cc_|^utc--\d/;

/** Whether a name is that of a file which usually contains keys or credentials. */
function isSecretName(name: string): boolean {
  return (
    SECRET_NAMES.has(name) ||
    isEnvFile(name) ||
    KEY_ENDING.test(name) ||
    SSH_KEY.test(name) ||
    CREDENTIALS.test(name) ||
    PASSWORDS.test(name) ||
    ACCOUNT.test(name) ||
    OTHERS.test(name)
  );
}

function isEnvFile(name: string): boolean {
  return /(?:^\.(?:env|dev\.vars)(?:[._-]|$)|\.env$)/.test(name);
}
