import { readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { runWink } from "../../../tests/support/cli/run-wink.ts";
import { checkWinkUsage } from "../../../tests/support/documents/wink-usage.ts";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { createProjectFiles } from "./create-project-files.ts";
import { type InitOptions, init } from "./init.ts";
import { writeProject } from "./write-project.ts";

const FILES = [
  ...["package.json", "tsconfig.json", "agent.mts", "main.mts", "agent.test.mts", "turns.json"],
  ...["README.md", ".gitignore", ".github/workflows/ci.yml"],
];

const actions = { init: (options: InitOptions) => init(options, manifest) };

/** Lists the files below a folder. */
function listFiles(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
}

test("creates a project in a new folder, and prints the next commands", async () => {
  const folder = join(temporaryTree(), "my agents", "Bread & Co");
  const { out, err, code } = await runWink(actions, ["init", folder]);
  expect({ err, code }).toEqual({ err: "", code: 0 });
  expect(out).toContain(`Created a project in ${folder}:\n  package.json\n`);
  expect(out).toContain(`  cd '${folder}'\n  npm install\n  npm test\n  npm run start:local\n`);
  expect(listFiles(folder)).toEqual([...FILES].sort());
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({
    name: "bread-co",
    type: "module",
    engines: { node: manifest.engines.node },
    dependencies: { weakincentives: `^${manifest.version}`, zod: manifest.peerDependencies.zod },
  });
});

test("keeps the other files of a folder, and prints JSON", async () => {
  const folder = temporaryTree({ "notes.txt": "mine", ".github/CODEOWNERS": "me" });
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  const { out } = await runWink(actions, ["init", "--json"]);
  vi.restoreAllMocks();
  const next = ["npm install", "npm test", "npm run start:local"];
  expect(JSON.parse(out)).toEqual({ folder, files: FILES, next });
  expect(listFiles(folder)).toEqual([...FILES, ".github/CODEOWNERS", "notes.txt"].sort());
  expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("mine");
});

test("replaces no file, and names the files in its way", async () => {
  const tree = { "package.json": "{}", "README.md": "mine", ".github": "a file" };
  const folder = temporaryTree(tree);
  symlinkSync("nowhere", join(folder, "agent.mts"));
  const { out, err, code } = await runWink(actions, ["init", folder]);
  expect({ out, code }).toEqual({ out: "", code: 1 });
  expect(err).toBe(
    `error: These files exist in ${folder}: package.json, agent.mts, README.md, .github. Nothing was written. Move them away, or pass another folder.\n`,
  );
  expect(listFiles(folder)).toEqual([".github", "README.md", "agent.mts", "package.json"]);
});

test("refuses a path at which no folder can be", async () => {
  const folder = temporaryTree({ file: "" });
  const taken = await runWink(actions, ["init", join(folder, "file")]);
  expect(taken.err).toContain("FOLDER must be a folder, or the path of a new one, got");
  const below = await runWink(actions, ["init", join(folder, "file", "a")]);
  expect(below.err).toContain("has a file where a folder is expected. Set FOLDER to a folder that");
  expect([taken.code, below.code]).toEqual([1, 1]);
  expect(listFiles(folder)).toEqual(["file"]);
});

test("leaves nothing if a file cannot be written", async () => {
  const folder = temporaryTree();
  const files = [
    { path: "new/deep/a", text: "" },
    { path: "new/b", text: "" },
    { path: "new/b/c", text: "" }, // b is a file
  ];
  await expect(writeProject(folder, files)).rejects.toThrow("Set FOLDER to a folder that you can");
  expect(readdirSync(folder)).toEqual([]);
  const writing = runAsPlainUser(() => writeProject(join(folder, "a"), files.slice(0, 1)));
  await expect(writing).rejects.toThrow("Set FOLDER to a folder that you can");
});

test.each([
  ["My Agent", "my-agent"],
  ["zod", "my-agent"],
  ["__..", "my-agent"],
  ["_a.b~c-", "a.b~c"],
  ["x".repeat(250), "x".repeat(200)],
])("a folder %j makes the package %j", async (name, expected) => {
  const folder = join(temporaryTree(), name);
  await runWink(actions, ["init", folder]);
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name).toBe(expected);
  rmSync(folder, { recursive: true });
});

test("the project's commands exist", () => {
  const files = createProjectFiles("a", manifest);
  const text = files.map((file) => file.text).join("\n");
  const commands = [...text.matchAll(/(?:npx|": ") ?"?wink ([^\n"`]+)/g)].map(
    ([, one = ""]) => one,
  );
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands)
    expect(checkWinkUsage(command.split(" ")), command).toBeUndefined();
  const { scripts } = JSON.parse(files[0]?.text ?? "");
  const scriptNames = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name);
  for (const name of scriptNames) expect(Object.keys(scripts)).toContain(name);
});

test("the guides that the project's README names exist", () => {
  const readme = createProjectFiles("a", manifest).find(({ path }) => path === "README.md")?.text;
  const paths = [...(readme ?? "").matchAll(/node_modules\/weakincentives\/([\w./-]+\.md)/g)];
  expect(paths.length).toBeGreaterThan(4);
  for (const [, path = ""] of paths) expect(readFileSync(path, "utf8"), path).not.toBe("");
});
