/** Paths of files that are withheld by their names, as secret scanners list them, with copies of many kinds. */
export const SECRET_PATHS: readonly string[] = `
.env|.ENV|.env~|.env.bak|.env.old|.env.save|.env.swp|.env.swo|.env.local|.env.production|.env.production.local|.env-staging|.env_prod
.env.1|.env.20240101|.env.2024-01-01|.env copy|Copy of .env|.env (1)|#.env#|.#.env|.env.tar.gz|.env.zip|.env.orig|..env.swp|prod.env|PROD.ENV
config/app.env|.envrc|.flaskenv|.dev.vars|.dev.vars.production
id_rsa|id_dsa|id_ecdsa|id_ecdsa_sk|id_ed25519|id_ed25519_sk|ID_RSA|id_rsa.bak|id_rsa~|id_rsa.old|id_rsa.1|id_rsa.orig|id_rsa.txt|id_rsa (2)
id_rsa copy|Copy of id_rsa|id_rsa - Copy|id_rsa_backup|id_rsa-old|.id_rsa.swp|id_rsa.zip|id_rsa.2024-05-05|id_rsa.bak.gz|id_rsa.bak~|deploy_rsa
github_ed25519|server.dsa|ssh_host_rsa_key|ssh_host_ed25519_key|ssh_host_ecdsa_key|ssh_host_key|ssh_host_rsa_key.bak
server.pem|Server.PEM|server.pem.bak|server (1).pem|server-1.pem|privkey.pem|tls.key|tls.key.old|tls.key.txt|master.key|AuthKey_1.p8
a.p12|a.pfx|a.pkcs12|a.kdb|a.kdbx|passwords.kdbx.old|a.jks|release.keystore|a.bks|a.jceks|a.ppk|http.keytab|krb5.keytab|krb5cc_1000
client.ovpn|vault.psafe3|login.keychain|login.keychain-db|home.agilekeychain
credentials|credentials.json|credentials.json.bak|credentials (1).json|credentials copy.json|credentials-old.json|credentials.yml|credentials.yaml
credentials.xml|credentials.ini|credentials.toml|credentials.csv|credentials.db|.credentials|.credentials.json|aws_credentials|google-credentials.json
creds.json|secrets.yml|secrets.yaml|secrets.json|secrets.toml|secrets.ini|secrets.env|.secrets|secret.yaml|app-secrets.json|secret_key.txt
api_key.txt|api-keys.json|apikey|access_token|access-token.txt|auth_token.json|private_key|private-key.txt|passwords.txt|password.txt|passwords.csv|.passwd
token|token.json|token.txt|.token|client_secret.json|client_secret_123.apps.json|client_secrets.json|client_id.json|service-account.json
my_service_account_2.json|serviceAccountKey.json|shop-firebase-adminsdk-x1.json|gcp-key.json|application_default_credentials.json|adc.json
terraform.tfstate|terraform.tfstate.backup|terraform.tfstate.d/x/terraform.tfstate|prod.tfstate|terraform.tfvars|prod.tfvars|prod.auto.tfvars
prod.tfvars.json|prod.tfvars~|.terraformrc|terraform.rc|credentials.tfrc.json|.vault-token|.vault_pass|vault_pass|encrypted_data_bag_secret|knife.rb
kubeconfig|kubeconfig.yaml|kubeconfig-prod|prod.kubeconfig|kube.config|.dockercfg|.dockerconfigjson|.s3cfg|.boto|.passwd-s3fs|.tugboat|rclone.conf
accessKeys.csv|rootkey.csv
.npmrc|.npmrc.bak|.yarnrc|.yarnrc.yml|.pypirc|pip.conf|pip.ini|.condarc|NuGet.Config|gradle.properties|settings-security.xml|auth.json|auth.json~
.netrc|_netrc|.netrc.bak|.pgpass|pgpass.conf|.my.cnf|.mylogin.cnf|.htpasswd|.htdigest|.msmtprc|.fetchmailrc|.esmtprc|.ftpconfig|.ftppass
.remote-sync.json|sftp-config.json|.vscode/sftp.json|recentservers.xml|sitemanager.xml|filezilla.xml|WinSCP.ini|proftpdpasswd
.bash_history|.zsh_history|.sh_history|.python_history|.psql_history|.mysql_history|.node_repl_history|.irb_history|.rediscli_history|.history|.dbshell
.git-credentials|.gitconfig|.git/config|.git/modules/lib/config|.git/config.bak|.git/config.worktree
.ssh/config|.ssh/known_hosts|.ssh/keys/deep|.gnupg/secring.gpg|.gnupg/pubring.kbx|.aws/credentials|.aws/config|.aws/sso/cache/a.json
.azure/accessTokens.json|.azure/msal_token_cache.json|.config/gcloud/access_tokens.db|.config/gcloud/configurations/config_default
.kube/config|.kube/cache/x|.docker/config.json|.docker/config.json.bak|.config/gh/hosts.yml|.config/hub|.config/op/config|.config/doctl/config.yaml
.config/sops/age/keys.txt|.config/github-copilot/hosts.json|.config/containers/auth.json|.config/rclone/rclone.conf|.config/composer/auth.json
.composer/auth.json|.cargo/credentials|.cargo/credentials.toml|.gem/credentials|.bundle/config|.m2/settings.xml|.m2/settings-security.xml
.pulumi/credentials.json|.terraform.d/credentials.tfrc.json|.oci/config|.snowsql/config|.databrickscfg|.password-store/mail.gpg
.claude/.credentials.json|.claude.json|.codex/auth.json|.gemini/oauth_creds.json|oauth_creds.json
etc/shadow|etc/gshadow|etc/shadow-|Library/Keychains/login.keychain-db|key3.db|key4.db|logins.json|signons.sqlite|cookies.sqlite|Login Data
wallet.dat|wallet.dat.bak|.bitcoin/wallets/x|.electrum/wallets/default_wallet|secring.gpg|UTC--2024-01-01T00-00-00.000Z--ab
wp-config.php|wp-config.php.bak|wp-config.php~|LocalSettings.php|database.yml|config/database.yml|secret_token.rb|.dbeaver-data-sources.xml
robomongo.json
`
  .split(/[|\n]/)
  .filter((path) => path !== "");

/** Paths of ordinary files whose names resemble the names of secret files. */
export const ORDINARY_PATHS: readonly string[] = `
.env.example|.env.sample|.env.template|.env.production.example|.env.dist|.environment|env.ts|environment.ts|environment.md|dotenv.md|env|envoy.yaml
key.ts|keys.ts|keys.json|keyboard.ts|monkey|keymap.json|public.key.md|pem|pem.ts|keys.md|keystore.ts|turkey.txt|hotkeys.json
id_rsa.pub|id_ed25519.pub|ssh_host_rsa_key.pub|rsa.ts|ecdsa.go|crypto/rsa.py|server.crt|ca.cer|cert.der|chain.p7b
credentials.md|credentials.ts|credentials.test.ts|credentials.py|credential-store.ts|credentials.example.json|credentials.json.example
secrets.ts|secrets.test.ts|secrets.py|secret-santa.md|secretary.json|secrets.schema.json|secrets.enc.yaml|secrets.sops.yaml|no-secrets-here.md
token.ts|tokens.json|design-tokens.json|tokenizer.json|tokenizer_config.json|token_test.go|password.ts|password-field.tsx|passwords.md|password.json
auth.ts|auth.test.ts|auth.md|oauth.ts|config.json|config.yml|config.toml|config|settings.json|settings.xml|settings.py|package.json|tsconfig.json
terraform.tf|main.tf|terraform.tfvars.example|variables.tf|prod.tfvars.sample|docker-compose.yml|Dockerfile|kube.md|kubernetes.yaml|deployment.yaml
history.md|history.ts|HISTORY.md|history.txt|browser-history.json|chat_history.json|CHANGELOG.md|gradle.build|build.gradle|pip.md|requirements.txt
npmrc|yarn.lock|package-lock.json|wallet.ts|wallet.md|database.ts|database.yml.example|wp-content/index.php|hub.ts|hosts.yml|accounts.json|account.json
docs/ssh/config|docs/aws/config|docs/git/config|.github/config.yml|.gitignore|.gitattributes|.git/HEAD|.git/hooks/pre-commit.sample|.vscode/settings.json
.claude/settings.json|.codex/config.toml|.docker/Dockerfile|.config/app.json|.bashrc|.editorconfig|.dockerignore|.prettierrc|notes (1).md|copy of notes.md
photo.old.png|data.bak|archive.tar.gz|v1.2.3|2024-01-01.log|main.swp|report~|résumé.md|ключ.md|鍵.txt|a.b.c.d|x
`
  .split(/[|\n]/)
  .filter((path) => path !== "");
