import { expect, test } from "vitest";
import { isSecretFile, secretAllowlist } from "./secret-files.ts";

test.each([
  "/p/.env",
  "/p/.ENV",
  "/p/.env.local",
  "/p/.env.production.local",
  "/p/.env-staging",
  "/p/.envrc",
  "/p/prod.env",
  "/p/server.pem",
  "/p/Server.PEM",
  "/p/tls.key",
  "/p/AuthKey_1.p8",
  "/p/a.p12",
  "/p/a.pfx",
  "/p/a.kdbx",
  "/p/a.jks",
  "/p/a.ppk",
  "/p/id_rsa",
  "/p/id_dsa",
  "/p/id_ecdsa",
  "/p/id_ed25519",
  "/p/.npmrc",
  "/p/.netrc",
  "/p/.pypirc",
  "/p/.pgpass",
  "/p/.git-credentials",
  "/p/.aws/credentials",
  "/p/.ssh/config",
  "/p/.ssh/keys/deep",
  "/p/.gnupg/secring.gpg",
  "/p/.docker/config.json",
  "/p/.kube/config",
  "/p/.cargo/credentials.toml",
  "/p/service-account.json",
  "/p/my_service_account_2.json",
  "/p/serviceAccountKey.json",
  "/p/shop-firebase-adminsdk-x1.json",
  "/p/client_secret_123.json",
  "/p/application_default_credentials.json",
])("isSecretFile() recognizes %s", (path) => {
  expect(isSecretFile(path)).toBe(true);
});

test.each([
  "/p/.env.example",
  "/p/.env.sample",
  "/p/.env.template",
  "/p/.env.production.example",
  "/p/.environment",
  "/p/env.ts",
  "/p/environment.md",
  "/p/key.ts",
  "/p/keys.json",
  "/p/monkey",
  "/p/id_rsa.pub",
  "/p/pem",
  "/p/credentials",
  "/p/config.json",
  "/p/config",
  "/p/.aws/config",
  "/p/docs/ssh/config",
  "/p/accounts.json",
  "/p/npmrc",
])("isSecretFile() ignores %s", (path) => {
  expect(isSecretFile(path)).toBe(false);
});

test("secretAllowlist() allows secret files by path or by glob", () => {
  const allows = secretAllowlist([".env", "certs/[1].pem", "*.key"]);
  expect([".env", "certs/[1].pem", "a/b.key"].map(allows)).toEqual([true, true, true]);
  expect(["sub/.env", "certs/2.pem", ".env.local"].map(allows)).toEqual([false, false, false]);
  expect(secretAllowlist([])(".env")).toBe(false);
});
