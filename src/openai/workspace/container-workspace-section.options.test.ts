import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import {
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "./container-workspace-section.ts";

function made(options: object): OpenAIContainerWorkspaceSection {
  const given = { session: new Session(), ...options };
  return new OpenAIContainerWorkspaceSection(given as OpenAIContainerWorkspaceSectionOptions);
}

describe("an OpenAIContainerWorkspaceSection is refused", () => {
  const folder = () => temporaryTree({ "a.txt": "a" });

  test.each<readonly [string, () => object, string]>([
    [
      "without a session",
      () => ({ session: undefined }),
      "OpenAIContainerWorkspaceSection.session must be a Session, got undefined. Give the one you evaluate with",
    ],
    [
      "with what is no session",
      () => ({ session: { id: "x" } }),
      "OpenAIContainerWorkspaceSection.session must be a Session",
    ],
    [
      "without roots for its mounts",
      () => ({ mounts: [{ hostPath: folder() }] }),
      'OpenAIContainerWorkspaceSection.allowedHostRoots must be given with mounts, for these files leave this machine, got undefined. List the folders that they may come from, or write "any"',
    ],
    [
      'in mode "auto" with mounts',
      () => ({
        mounts: [{ hostPath: folder() }],
        allowedHostRoots: "any",
        containerConfig: { mode: "auto" },
      }),
      'OpenAIContainerWorkspaceSection.containerConfig.mode must be "explicit" with mounts, got "auto". Leave it out: files can only be brought into a container that is made for them',
    ],
    [
      "to unpack otherwise",
      () => ({ unpack: "zip" }),
      "OpenAIContainerWorkspaceSection.unpack must be one of",
    ],
    [
      "to sync otherwise",
      () => ({ syncPolicy: "hourly" }),
      "OpenAIContainerWorkspaceSection.syncPolicy must be one of",
    ],
    [
      "with a size of container that there is not",
      () => ({ containerConfig: { memoryLimit: "8g" } }),
      "OpenAIContainerWorkspaceSection.containerConfig.memoryLimit must be one of",
    ],
    [
      "with a container that lives for no time",
      () => ({ containerConfig: { expiresAfterMinutes: 0 } }),
      "OpenAIContainerWorkspaceSection.containerConfig.expiresAfterMinutes must be",
    ],
    [
      "with another mode",
      () => ({ containerConfig: { mode: "lazy" } }),
      "OpenAIContainerWorkspaceSection.containerConfig.mode must be one of",
    ],
    [
      "with an option of the container's that there is not",
      () => ({ containerConfig: { memory: "4g" } }),
      "OpenAIContainerWorkspaceSection.containerConfig",
    ],
    ["with an option that there is not", () => ({ mount: [] }), 'did you mean "mounts"?'],
    [
      "with no options",
      () => null as never,
      "OpenAIContainerWorkspaceSection(options) must be an object, got null",
    ],
    [
      "with a client that is none",
      () => ({ client: { responses: {} } }),
      "OpenAIContainerWorkspaceSection.client must be an OpenAI client",
    ],
    [
      "to sync to nowhere",
      () => ({ syncDestination: "" }),
      "OpenAIContainerWorkspaceSection.syncDestination",
    ],
    [
      "to sync by a word",
      () => ({ syncOnCleanup: "yes" }),
      "OpenAIContainerWorkspaceSection.syncOnCleanup",
    ],
    [
      "to delete by a word",
      () => ({ deleteOnCleanup: 1 }),
      "OpenAIContainerWorkspaceSection.deleteOnCleanup",
    ],
    [
      "to be overridden by a word",
      () => ({ acceptsOverrides: 1 }),
      "OpenAIContainerWorkspaceSection.acceptsOverrides",
    ],
    [
      "with mounts that are no list",
      () => ({ mounts: "x", allowedHostRoots: "any" }),
      "mounts must be an array",
    ],
    ["with a bad key", () => ({ key: "My Workspace" }), "key"],
  ])("%s", (_, options, message) => {
    const given = options();
    const make = () =>
      given === null ? new OpenAIContainerWorkspaceSection(given as never) : made(given);
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(message);
  });

  test.each(["tool.exe", "Makefile", ".gitignore", "data.XYZ"])(
    'for %s, which cannot go up by itself, with unpack "files"',
    (name) => {
      const mounts = [{ hostPath: temporaryTree({ "a.txt": "a", [name]: "b" }), mountPath: "p" }];
      const make = () => made({ mounts, allowedHostRoots: "any", unpack: "files" });
      expect(make).toThrow(InvalidOptionError);
      expect(make).toThrow(
        `OpenAIContainerWorkspaceSection.mounts must contain only file types that OpenAI accepts individually when unpack is "files", got "p/${name}". Exclude it with excludeGlob, or omit unpack to upload one archive.`,
      );
      expect(made({ mounts, allowedHostRoots: "any" }).mountPreviews).toMatchObject([{ files: 2 }]);
      const spared = [{ ...mounts[0], excludeGlob: [name] }];
      const section = made({ mounts: spared, allowedHostRoots: "any", unpack: "files" });
      expect(section.mountPreviews).toMatchObject([{ files: 1 }]);
    },
  );

  test('not for the case of a name, with unpack "files"', () => {
    const folder = temporaryTree({ "A.TXT": "a", "b.Csv": "b", "notes.MD": "c" });
    const mounts = [{ hostPath: folder }];
    const section = made({ mounts, allowedHostRoots: [folder], unpack: "files" });
    expect(section.mountPreviews).toMatchObject([{ files: 3, withheld: [] }]);
  });

  test("not with each option as it may be", () => {
    const section = made({
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
    expect(made({})).toMatchObject({
      ...{ key: "workspace", title: "Workspace", acceptsOverrides: false, mountPreviews: [] },
    });
  });
});
