import {
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../../base/filesystem-error.ts";
import { expectRejection, expectSame } from "./expect.ts";
import { type HostTree, readFilesBelow, toLatin1Files } from "./host-folder.ts";
import { createWorkspacePrompt } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceFixture } from "./workspace-case.ts";

const done = { text: "Done." };
const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);

const project: HostTree = {
  "README.md": "# Owls\r\n",
  "src/deep/er/night.bin": everyByte,
  "src/empty": "",
  "src/größe.py": "print('Größe')\n",
};

/** Python code that writes every byte it can read to a file, with one character per byte. */
const readingCode = `
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

/** Cases about mounted and withheld files. */
export const workspaceMountCases: readonly WorkspaceCase[] = [
  {
    name: "mounts a folder and a single file byte for byte",
    script: [{ code: readingCode }, done],
    async check({ createFolder, createWorkspace, adapter, session }) {
      const [folder, other] = [
        await createFolder(project),
        await createFolder({ "notes.txt": "hoot" }),
      ];
      const section = createWorkspace({
        mounts: [{ hostPath: folder, mountPath: "project" }, { hostPath: `${other}/notes.txt` }],
        allowedHostRoots: [folder, other],
      });
      await section.ready();
      const expected = { ...toLatin1Files(project, "project/"), "notes.txt": "hoot" };
      expectSame(await readFilesBelow(section.tempDir), expected, "the files of the workspace");
      await adapter.evaluate(createWorkspacePrompt(section), { session });
      const seen: unknown = JSON.parse(await section.filesystem.readText("seen.json"));
      expectSame(seen, toLatin1Files(project, "project/"), "the files that code saw");
    },
  },
  {
    name: "rejects a mount outside the allowed roots before sending a request",
    script: [{ text: "never" }],
    async check(stage) {
      const [folder, other] = [
        await stage.createFolder(project),
        await stage.createFolder({ "a.txt": "a" }),
      ];
      const mounts = [{ hostPath: folder }, { hostPath: `${other}/a.txt` }];
      const work = evaluateWith(stage, { mounts, allowedHostRoots: [folder] });
      await expectRejection(work, WorkspaceSecurityError);
      expectSame(stage.asked().length, 0, "requests");
    },
  },
  {
    name: "mounts only files that match includeGlob and not excludeGlob",
    script: [],
    async check({ createFolder, createWorkspace }) {
      const tree = { "a.py": "a", "a.md": "a", "lib/b.py": "b", "lib/test/c.py": "c" };
      const folder = await createFolder(tree);
      const mount = { includeGlob: ["*.py"], excludeGlob: ["lib/test/*"] };
      const section = createWorkspace({
        mounts: [{ hostPath: folder, mountPath: "in", ...mount }],
        allowedHostRoots: [folder],
      });
      await section.ready();
      const expected = { "in/a.py": "a", "in/lib/b.py": "b" };
      expectSame(await readFilesBelow(section.tempDir), expected, "the files of the workspace");
      expectSame(section.mountPreviews[0]?.files, 2, "the files in the preview");
    },
  },
  {
    name: "accepts mounts of exactly maxBytes, and rejects one more byte before sending a request",
    script: [{ text: "never" }],
    async check(stage) {
      const hostPath = await stage.createFolder({ "a.txt": "12345", "b.txt": "67890" });
      const allowedHostRoots = [hostPath];
      const fits = stage.createWorkspace({
        mounts: [{ hostPath, maxBytes: 10 }],
        allowedHostRoots,
      });
      await fits.ready();
      expectSame(Object.keys(await readFilesBelow(fits.tempDir)).length, 2, "files of ten bytes");
      const work = evaluateWith(stage, { mounts: [{ hostPath, maxBytes: 9 }], allowedHostRoots });
      await expectRejection(work, WorkspaceBudgetExceededError);
      expectSame(stage.asked().length, 0, "requests");
    },
  },
  {
    name: "lists the contents and withheld key files of each mount in its preview",
    script: [],
    async check({ createFolder, createWorkspace }) {
      const names = Array.from({ length: 21 }, (_, index) => `n${String(index).padStart(2, "0")}`);
      const many = Object.fromEntries(names.map((name) => [name, "12"]));
      const [folder, other] = [
        await createFolder(many),
        await createFolder({ "a.txt": "abc", ".env": "KEY=1" }),
      ];
      const section = createWorkspace({
        mounts: [
          { hostPath: folder, mountPath: "many" },
          { hostPath: other, mountPath: "few" },
        ],
        allowedHostRoots: [folder, other],
      });
      const about = { mountPath: "many", files: 21, bytes: 42, truncated: true, withheld: [] };
      const few = { mountPath: "few", files: 1, bytes: 3, truncated: false, withheld: [".env"] };
      const skipped = [{ path: ".env", reason: "has a name that is common for key files" }];
      const expected = [
        {
          ...{ hostPath: folder, entries: names.slice(0, 20), ...about },
          ...{ unmatched: [], skipped: [], skippedCount: 0 },
        },
        {
          ...{ hostPath: other, entries: ["a.txt"], ...few },
          ...{ unmatched: [], skipped, skippedCount: 1 },
        },
      ];
      expectSame(section.mountPreviews, expected, "mountPreviews");
      await section.ready();
      const brought = Object.keys(await readFilesBelow(section.tempDir)).sort();
      expectSame(
        brought,
        ["few/a.txt", ...names.map((name) => `many/${name}`)],
        "the mounted files",
      );
    },
  },
  {
    name: "mounts key files listed in allowSecrets",
    script: [],
    async check({ createFolder, createWorkspace }) {
      const hostPath = await createFolder({ ".env": "KEY=1", id_rsa: "x" });
      const section = createWorkspace({
        mounts: [{ hostPath, mountPath: "keys" }],
        allowedHostRoots: [hostPath],
        allowSecrets: [".env"],
      });
      await section.ready();
      expectSame(section.mountPreviews[0]?.withheld, ["id_rsa"], "the withheld files");
      expectSame(await readFilesBelow(section.tempDir), { "keys/.env": "KEY=1" }, "the files");
    },
  },
];

/**
 * Evaluates a prompt with a workspace. A section may reject its options at construction or on first
 * use.
 */
async function evaluateWith(
  { createWorkspace, adapter, session }: WorkspaceFixture,
  options: Parameters<WorkspaceFixture["createWorkspace"]>[0],
): Promise<unknown> {
  const section = createWorkspace(options);
  await section.ready();
  return await adapter.evaluate(createWorkspacePrompt(section), { session });
}
