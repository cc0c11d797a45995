/** Checks that the clients of `tests/clients` are installed in the versions that its `package.json` pins. */
import { existsSync, readFileSync } from "node:fs";

const folder = "tests/clients";
const { dependencies } = readManifest(`${folder}/package.json`);
const wrong = Object.entries(dependencies ?? {}).filter(([name, version]) => {
  const path = `${folder}/node_modules/${name}/package.json`;
  return !existsSync(path) || readManifest(path).version !== version;
});
if (wrong.length > 0) {
  const names = wrong.map(([name, version]) => `${name}@${version}`).join(", ");
  console.error(
    `Not installed: ${names}. Run \`npm ci --prefix ${folder}\` (1 GB, about a minute).`,
  );
  process.exitCode = 1;
}

function readManifest(path: string): {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
} {
  return JSON.parse(readFileSync(path, "utf8"));
}
