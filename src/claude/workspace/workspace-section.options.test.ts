import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { InvalidOptionError, PromptValidationError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";

function made(options: object): ClaudeAgentWorkspaceSection {
  const given = { session: new Session(), ...options } as ClaudeAgentWorkspaceSectionOptions;
  const section = new ClaudeAgentWorkspaceSection(given);
  onTestFinished(async () => void (await section.cleanup()));
  return section;
}

describe("a ClaudeAgentWorkspaceSection is refused", () => {
  test.each<readonly [string, object, string]>([
    [
      "without a session",
      { session: undefined },
      "ClaudeAgentWorkspaceSection.session must be a Session, got undefined. Give the one you evaluate with",
    ],
    [
      "to sync otherwise",
      { syncPolicy: "hourly" },
      "ClaudeAgentWorkspaceSection.syncPolicy must be one of",
    ],
    [
      "to sync to nowhere",
      { syncDestination: "" },
      "ClaudeAgentWorkspaceSection.syncDestination must be one line",
    ],
    [
      "to sync by a word",
      { syncOnCleanup: "yes" },
      "ClaudeAgentWorkspaceSection.syncOnCleanup must be a boolean",
    ],
    [
      "to be overridden by a word",
      { acceptsOverrides: 1 },
      "ClaudeAgentWorkspaceSection.acceptsOverrides must be a boolean",
    ],
    ["with an option that there is not", { mount: [] }, 'did you mean "mounts"?'],
    ["with mounts that are no list", { mounts: "x" }, "mounts must be an array"],
    ["with roots that are no list", { allowedHostRoots: "/" }, "allowedHostRoots must be"],
    ["with secrets that are no list", { allowSecrets: "x" }, "allowSecrets must be"],
    ["with a bad key", { key: "My Workspace" }, "key must be 1-64 of"],
    ["with a bad title", { title: "\n" }, "title must be one line"],
  ])("%s", (_, options, message) => {
    expect(() => made(options)).toThrow(InvalidOptionError);
    expect(() => made(options)).toThrow(message);
  });

  test("with no options", () => {
    const make = () => new ClaudeAgentWorkspaceSection(null as never);
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow("ClaudeAgentWorkspaceSection(options) must be an object, got null");
  });
});

describe("a ClaudeAgentWorkspaceSection may have", () => {
  test("nothing but a session", () => {
    const session = new Session();
    expect(made({ session })).toMatchObject({
      ...{ session, key: "workspace", title: "Workspace", acceptsOverrides: false },
      ...{ mountPreviews: [], containerId: null, syncedDir: null },
    });
    expect(made({ session }).tools()).toEqual([]);
  });

  test("a key and title of its own, and a text that may be overridden", () => {
    const section = made({ key: "files", title: "Files", acceptsOverrides: true });
    expect(section).toMatchObject({ key: "files", title: "Files", acceptsOverrides: true });
  });

  test("mounts from anywhere, where no roots are given, or from the roots that are", () => {
    const folder = temporaryTree({ "a.txt": "a" });
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    expect(made({ mounts }).mountPreviews).toMatchObject([{ mountPath: "p", files: 1 }]);
    expect(made({ mounts, allowedHostRoots: [folder] }).mountPreviews).toHaveLength(1);
    expect(made({ mounts, allowedHostRoots: "any" }).mountPreviews).toHaveLength(1);
    expect(() => made({ mounts, allowedHostRoots: [] })).toThrow("which are empty");
  });

  test("key files, where they are allowed", () => {
    const folder = temporaryTree({ ".env": "KEY=1", id_rsa: "x" });
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    expect(made({ mounts }).mountPreviews).toMatchObject([
      { files: 0, withheld: [".env", "id_rsa"] },
    ]);
    expect(made({ mounts, allowSecrets: [".env"] }).mountPreviews).toMatchObject([
      { files: 1, withheld: ["id_rsa"] },
    ]);
  });

  test("what is said of a container, whatever that is: there is none", () => {
    const section = made({
      containerConfig: { mode: "auto", memoryLimit: "8g" },
      unpack: "zip",
      deleteOnCleanup: 1,
      client: "none",
      mounts: [{ hostPath: temporaryTree({ "tool.exe": "x" }), mountPath: "p" }],
    });
    expect(section).toMatchObject({ containerId: null, mountPreviews: [{ files: 1 }] });
  });
});
