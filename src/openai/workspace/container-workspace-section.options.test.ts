import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import {
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "./container-workspace-section.ts";

function createSection(options: object): OpenAIContainerWorkspaceSection {
  const all = { session: new Session(), ...options };
  return new OpenAIContainerWorkspaceSection(all as OpenAIContainerWorkspaceSectionOptions);
}

describe("new OpenAIContainerWorkspaceSection()", () => {
  const folder = () => temporaryTree({ "a.txt": "a" });

  test.each<readonly [string, () => object, string]>([
    [
      "rejects a missing session",
      () => ({ session: undefined }),
      "OpenAIContainerWorkspaceSection.session must be a Session, got undefined. Pass the session that you evaluate with.",
    ],
    [
      "rejects a session that is not a Session",
      () => ({ session: { id: "x" } }),
      "OpenAIContainerWorkspaceSection.session must be a Session",
    ],
    [
      "rejects mounts without allowedHostRoots",
      () => ({ mounts: [{ hostPath: folder() }] }),
      'OpenAIContainerWorkspaceSection.allowedHostRoots must be provided with mounts, because these files are uploaded, got undefined. List the folders that mounts may come from, or pass "any".',
    ],
    [
      'rejects mode "auto" with mounts',
      () => ({
        mounts: [{ hostPath: folder() }],
        allowedHostRoots: "any",
        containerConfig: { mode: "auto" },
      }),
      'OpenAIContainerWorkspaceSection.containerConfig.mode must be "explicit" with mounts, got "auto". Omit it: only a container that the adapter creates can be filled with files.',
    ],
    [
      "rejects an unknown unpack",
      () => ({ unpack: "zip" }),
      "OpenAIContainerWorkspaceSection.unpack must be one of",
    ],
    [
      "rejects an unknown syncPolicy",
      () => ({ syncPolicy: "hourly" }),
      "OpenAIContainerWorkspaceSection.syncPolicy must be one of",
    ],
    [
      "rejects an unknown onConflict",
      () => ({ onConflict: "merge" }),
      "OpenAIContainerWorkspaceSection.onConflict must be one of",
    ],
    [
      "rejects contradictory syncOnCleanup and syncPolicy",
      () => ({ syncOnCleanup: true, syncPolicy: "never" }),
      'OpenAIContainerWorkspaceSection.syncOnCleanup must be false or omitted with syncPolicy: "never", got true. Set only syncPolicy.',
    ],
    [
      "rejects an unknown memoryLimit",
      () => ({ containerConfig: { memoryLimit: "8g" } }),
      "OpenAIContainerWorkspaceSection.containerConfig.memoryLimit must be one of",
    ],
    [
      "rejects expiresAfterMinutes: 0",
      () => ({ containerConfig: { expiresAfterMinutes: 0 } }),
      "OpenAIContainerWorkspaceSection.containerConfig.expiresAfterMinutes must be",
    ],
    [
      "rejects an unknown mode",
      () => ({ containerConfig: { mode: "lazy" } }),
      "OpenAIContainerWorkspaceSection.containerConfig.mode must be one of",
    ],
    [
      "rejects an unknown container option",
      () => ({ containerConfig: { memory: "4g" } }),
      "OpenAIContainerWorkspaceSection.containerConfig",
    ],
    ["rejects an unknown option", () => ({ mount: [] }), 'Did you mean "mounts"?'],
    [
      "rejects missing options",
      () => null as never,
      "OpenAIContainerWorkspaceSection(options) must be an object, got null",
    ],
    [
      "rejects a client that is not an OpenAI client",
      () => ({ client: { responses: {} } }),
      "OpenAIContainerWorkspaceSection.client must be an OpenAI client",
    ],
    [
      "rejects an empty syncDestination",
      () => ({ syncDestination: "" }),
      "OpenAIContainerWorkspaceSection.syncDestination",
    ],
    [
      "rejects a syncOnCleanup that is not a boolean",
      () => ({ syncOnCleanup: "yes" }),
      "OpenAIContainerWorkspaceSection.syncOnCleanup",
    ],
    [
      "rejects a deleteOnCleanup that is not a boolean",
      () => ({ deleteOnCleanup: 1 }),
      "OpenAIContainerWorkspaceSection.deleteOnCleanup",
    ],
    [
      "rejects an acceptsOverrides that is not a boolean",
      () => ({ acceptsOverrides: 1 }),
      "OpenAIContainerWorkspaceSection.acceptsOverrides",
    ],
    [
      "rejects mounts that are not an array",
      () => ({ mounts: "x", allowedHostRoots: "any" }),
      "mounts must be an array",
    ],
    ["rejects null as mounts", () => ({ mounts: null }), "mounts must be an array, got null."],
    [
      "rejects null as mounts with roots",
      () => ({ mounts: null, allowedHostRoots: "any" }),
      "mounts must be an array, got null. Omit it for an empty workspace.",
    ],
    [
      "rejects an object as mounts",
      () => ({ mounts: { hostPath: "/a" }, allowedHostRoots: "any" }),
      "mounts must be an array",
    ],
    [
      "rejects an object as mounts that has a length",
      () => ({ mounts: { length: 1 }, allowedHostRoots: "any" }),
      "mounts must be an array",
    ],
    [
      "rejects null as a mount",
      () => ({ mounts: [null], allowedHostRoots: "any" }),
      "mounts[0] must be a plain object, got null.",
    ],
    [
      "rejects null as allowedHostRoots",
      () => ({ mounts: [{ hostPath: folder() }], allowedHostRoots: null }),
      "allowedHostRoots must be an array of strings, got null.",
    ],
    [
      "rejects null as allowSecrets",
      () => ({ allowSecrets: null }),
      "allowSecrets must be an array",
    ],
    ["rejects an invalid key", () => ({ key: "My Workspace" }), "key"],
  ])("%s", (_, options, message) => {
    const value = options();
    const create = () =>
      value === null ? new OpenAIContainerWorkspaceSection(value as never) : createSection(value);
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow(message);
  });

  test.each(["tool.exe", "Makefile", ".gitignore", "data.XYZ"])(
    'rejects %s, which cannot be uploaded as a single file, with unpack "files"',
    (name) => {
      const mounts = [{ hostPath: temporaryTree({ "a.txt": "a", [name]: "b" }), mountPath: "p" }];
      const create = () => createSection({ mounts, allowedHostRoots: "any", unpack: "files" });
      expect(create).toThrow(InvalidOptionError);
      expect(create).toThrow(
        `OpenAIContainerWorkspaceSection.mounts must contain only file types that OpenAI accepts individually when unpack is "files", got "p/${name}". Exclude it with excludeGlob, or omit unpack to upload one archive.`,
      );
      expect(createSection({ mounts, allowedHostRoots: "any" }).mountPreviews).toMatchObject([
        { files: 2 },
      ]);
      const excluding = [{ ...mounts[0], excludeGlob: [name] }];
      const section = createSection({
        mounts: excluding,
        allowedHostRoots: "any",
        unpack: "files",
      });
      expect(section.mountPreviews).toMatchObject([{ files: 1 }]);
    },
  );

  test('accepts names in any case with unpack "files"', () => {
    const folder = temporaryTree({ "A.TXT": "a", "b.Csv": "b", "notes.MD": "c" });
    const mounts = [{ hostPath: folder }];
    const section = createSection({ mounts, allowedHostRoots: [folder], unpack: "files" });
    expect(section.mountPreviews).toMatchObject([{ files: 3, withheld: [] }]);
  });

  test("accepts every valid option and fills in the defaults", () => {
    const section = createSection({
      mounts: [],
      containerConfig: null,
      key: "files",
      title: "Files",
      syncPolicy: "eachTurn",
      unpack: "prompt",
      acceptsOverrides: true,
      deleteOnCleanup: true,
    });
    expect(section).toMatchObject({ key: "files", title: "Files", acceptsOverrides: true });
    expect(createSection({})).toMatchObject({
      ...{ key: "workspace", title: "Workspace", acceptsOverrides: false, mountPreviews: [] },
    });
  });
});
