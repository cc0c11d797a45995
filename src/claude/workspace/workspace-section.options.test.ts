import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { InvalidOptionError, PromptValidationError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";

function createSection(options: object): ClaudeAgentWorkspaceSection {
  const allOptions = { session: new Session(), ...options } as ClaudeAgentWorkspaceSectionOptions;
  const section = new ClaudeAgentWorkspaceSection(allOptions);
  onTestFinished(async () => void (await section.cleanup()));
  return section;
}

describe("ClaudeAgentWorkspaceSection rejects", () => {
  test.each<readonly [string, object, string]>([
    [
      "a missing session",
      { session: undefined },
      "ClaudeAgentWorkspaceSection.session must be a Session, got undefined. Pass the session that you evaluate with.",
    ],
    [
      "an unknown syncPolicy",
      { syncPolicy: "hourly" },
      "ClaudeAgentWorkspaceSection.syncPolicy must be one of",
    ],
    [
      "an empty syncDestination",
      { syncDestination: "" },
      "ClaudeAgentWorkspaceSection.syncDestination must be a non-blank single-line string",
    ],
    [
      "a syncOnCleanup that is not a boolean",
      { syncOnCleanup: "yes" },
      "ClaudeAgentWorkspaceSection.syncOnCleanup must be a boolean",
    ],
    [
      "an acceptsOverrides that is not a boolean",
      { acceptsOverrides: 1 },
      "ClaudeAgentWorkspaceSection.acceptsOverrides must be a boolean",
    ],
    [
      "an unknown onConflict",
      { onConflict: "merge" },
      "ClaudeAgentWorkspaceSection.onConflict must be one of",
    ],
    [
      "contradictory syncOnCleanup and syncPolicy",
      { syncOnCleanup: false, syncPolicy: "cleanup" },
      'ClaudeAgentWorkspaceSection.syncOnCleanup must be true or omitted with syncPolicy: "cleanup", got false. Set only syncPolicy.',
    ],
    ["an unknown option", { mount: [] }, 'Did you mean "mounts"?'],
    ["mounts that are not an array", { mounts: "x" }, "mounts must be an array"],
    ["null as mounts", { mounts: null }, "mounts must be an array, got null."],
    ["null as a mount", { mounts: [null] }, "mounts[0] must be a plain object, got null."],
    ["null as allowedHostRoots", { allowedHostRoots: null }, "allowedHostRoots must be an array"],
    ["null as allowSecrets", { allowSecrets: null }, "allowSecrets must be an array of strings"],
    [
      "allowedHostRoots that are not an array",
      { allowedHostRoots: "/" },
      "allowedHostRoots must be",
    ],
    ["allowSecrets that are not an array", { allowSecrets: "x" }, "allowSecrets must be"],
    ["an invalid key", { key: "My Workspace" }, "key must be 1-64 of"],
    ["an invalid title", { title: "\n" }, "title must be one line"],
  ])("%s", (_, options, message) => {
    expect(() => createSection(options)).toThrow(InvalidOptionError);
    expect(() => createSection(options)).toThrow(message);
  });

  test("missing options", () => {
    const create = () => new ClaudeAgentWorkspaceSection(null as never);
    expect(create).toThrow(PromptValidationError);
    expect(create).toThrow("ClaudeAgentWorkspaceSection(options) must be an object, got null");
  });
});

describe("ClaudeAgentWorkspaceSection accepts", () => {
  test("only a session", () => {
    const session = new Session();
    expect(createSection({ session })).toMatchObject({
      ...{ session, key: "workspace", title: "Workspace", acceptsOverrides: false },
      ...{ mountPreviews: [], containerId: null, syncedDir: null },
    });
    expect(createSection({ session }).tools()).toEqual([]);
  });

  test("a key, a title and acceptsOverrides", () => {
    const section = createSection({ key: "files", title: "Files", acceptsOverrides: true });
    expect(section).toMatchObject({ key: "files", title: "Files", acceptsOverrides: true });
  });

  test("mounts from any folder by default, or only from allowedHostRoots", () => {
    const folder = temporaryTree({ "a.txt": "a" });
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    expect(createSection({ mounts }).mountPreviews).toMatchObject([{ mountPath: "p", files: 1 }]);
    expect(createSection({ mounts, allowedHostRoots: [folder] }).mountPreviews).toHaveLength(1);
    expect(createSection({ mounts, allowedHostRoots: "any" }).mountPreviews).toHaveLength(1);
    expect(() => createSection({ mounts, allowedHostRoots: [] })).toThrow("which are empty");
  });

  test("key files listed in allowSecrets", () => {
    const folder = temporaryTree({ ".env": "KEY=1", id_rsa: "x" });
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    expect(createSection({ mounts }).mountPreviews).toMatchObject([
      { files: 0, withheld: [".env", "id_rsa"] },
    ]);
    expect(createSection({ mounts, allowSecrets: [".env"] }).mountPreviews).toMatchObject([
      { files: 1, withheld: ["id_rsa"] },
    ]);
  });

  test("container options with any value", () => {
    const section = createSection({
      containerConfig: { mode: "auto", memoryLimit: "8g" },
      unpack: "zip",
      deleteOnCleanup: 1,
      client: "none",
      mounts: [{ hostPath: temporaryTree({ "tool.exe": "x" }), mountPath: "p" }],
    });
    expect(section).toMatchObject({ containerId: null, mountPreviews: [{ files: 1 }] });
  });
});
