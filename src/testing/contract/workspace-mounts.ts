import {
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../../base/filesystem-error.ts";
import { failure, same } from "./expect.ts";
import { bytesOf, filesBelow, type HostTree } from "./host-folder.ts";
import { promptIn } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceStage } from "./workspace-case.ts";

const done = { text: "Done." };
const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);

const project: HostTree = {
  "README.md": "# Owls\r\n",
  "src/deep/er/night.bin": everyByte,
  "src/empty": "",
  "src/größe.py": "print('Größe')\n",
};

/** Writes down every byte that code sees, one character each. */
const reading = `
import json, os
seen = {}
for folder, _, names in os.walk(ROOT + "/project"):
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            seen[os.path.relpath(path, ROOT)] = file.read().decode("latin-1")
with open(ROOT + "/seen.json", "w") as file:
    json.dump(seen, file)
`;

/** What is mounted, and what is not. */
export const workspaceMounts: readonly WorkspaceCase[] = [
  {
    name: "a mounted folder and a single file arrive byte for byte",
    script: [{ code: reading }, done],
    async check({ host, workspace, adapter, session }) {
      const [folder, other] = [await host(project), await host({ "notes.txt": "hoot" })];
      const section = workspace({
        mounts: [{ hostPath: folder, mountPath: "project" }, { hostPath: `${other}/notes.txt` }],
        allowedHostRoots: [folder, other],
      });
      await section.ready();
      const expected = { ...bytesOf(project, "project/"), "notes.txt": "hoot" };
      same(await filesBelow(section.tempDir), expected, "the files of the workspace");
      await adapter.evaluate(promptIn(section), { session });
      const seen: unknown = JSON.parse(await section.filesystem.readText("seen.json"));
      same(seen, bytesOf(project, "project/"), "the files that code saw");
    },
  },
  {
    name: "a mount from outside the allowed roots is refused before anything is sent",
    script: [{ text: "never" }],
    async check(stage) {
      const [folder, other] = [await stage.host(project), await stage.host({ "a.txt": "a" })];
      const mounts = [{ hostPath: folder }, { hostPath: `${other}/a.txt` }];
      const work = evaluated(stage, { mounts, allowedHostRoots: [folder] });
      await failure(work, WorkspaceSecurityError);
      same(stage.asked().length, 0, "requests");
    },
  },
  {
    name: "globs decide what is mounted: only what is included, and never what is excluded",
    script: [],
    async check({ host, workspace }) {
      const tree = { "a.py": "a", "a.md": "a", "lib/b.py": "b", "lib/test/c.py": "c" };
      const folder = await host(tree);
      const mount = { includeGlob: ["*.py"], excludeGlob: ["lib/test/*"] };
      const section = workspace({
        mounts: [{ hostPath: folder, mountPath: "in", ...mount }],
        allowedHostRoots: [folder],
      });
      await section.ready();
      const expected = { "in/a.py": "a", "in/lib/b.py": "b" };
      same(await filesBelow(section.tempDir), expected, "the files of the workspace");
      same(section.mountPreviews[0]?.files, 2, "the files that the preview tells of");
    },
  },
  {
    name: "maxBytes are enough for as many, and one more is refused before anything is sent",
    script: [{ text: "never" }],
    async check(stage) {
      const hostPath = await stage.host({ "a.txt": "12345", "b.txt": "67890" });
      const allowedHostRoots = [hostPath];
      const fits = stage.workspace({ mounts: [{ hostPath, maxBytes: 10 }], allowedHostRoots });
      await fits.ready();
      same(Object.keys(await filesBelow(fits.tempDir)).length, 2, "files of ten bytes");
      const work = evaluated(stage, { mounts: [{ hostPath, maxBytes: 9 }], allowedHostRoots });
      await failure(work, WorkspaceBudgetExceededError);
      same(stage.asked().length, 0, "requests");
    },
  },
  {
    name: "previews tell what each mount brings and what is withheld, and key files are",
    script: [],
    async check({ host, workspace }) {
      const names = Array.from({ length: 21 }, (_, index) => `n${String(index).padStart(2, "0")}`);
      const many = Object.fromEntries(names.map((name) => [name, "12"]));
      const [folder, other] = [await host(many), await host({ "a.txt": "abc", ".env": "KEY=1" })];
      const section = workspace({
        mounts: [
          { hostPath: folder, mountPath: "many" },
          { hostPath: other, mountPath: "few" },
        ],
        allowedHostRoots: [folder, other],
      });
      const about = { mountPath: "many", files: 21, bytes: 42, truncated: true, withheld: [] };
      const few = { mountPath: "few", files: 1, bytes: 3, truncated: false, withheld: [".env"] };
      const expected = [
        { hostPath: folder, entries: names.slice(0, 20), ...about },
        { hostPath: other, entries: ["a.txt"], ...few },
      ];
      same(section.mountPreviews, expected, "mountPreviews");
      await section.ready();
      const brought = Object.keys(await filesBelow(section.tempDir)).sort();
      same(brought, ["few/a.txt", ...names.map((name) => `many/${name}`)], "what was brought");
    },
  },
  {
    name: "key files that are allowed by name are mounted",
    script: [],
    async check({ host, workspace }) {
      const hostPath = await host({ ".env": "KEY=1", id_rsa: "x" });
      const section = workspace({
        mounts: [{ hostPath, mountPath: "keys" }],
        allowedHostRoots: [hostPath],
        allowSecrets: [".env"],
      });
      await section.ready();
      same(section.mountPreviews[0]?.withheld, ["id_rsa"], "what is withheld");
      same(await filesBelow(section.tempDir), { "keys/.env": "KEY=1" }, "the files");
    },
  },
];

/** Whether it is refused when it is made or when it is used is the section's own affair. */
async function evaluated(
  { workspace, adapter, session }: WorkspaceStage,
  options: Parameters<WorkspaceStage["workspace"]>[0],
): Promise<unknown> {
  const section = workspace(options);
  await section.ready();
  return await adapter.evaluate(promptIn(section), { session });
}
