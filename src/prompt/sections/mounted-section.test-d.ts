import { expectTypeOf, test } from "vitest";
import { ClaudeAgentWorkspaceSection } from "../../claude/workspace/workspace-section.ts";
import type { FileDiff, WorkspaceDiff } from "../../files/changes/workspace-diff.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { HostMount } from "../../files/mounts/host-mount.ts";
import type { HostMountPreview } from "../../files/mounts/host-mount-preview.ts";
import type { SyncConflict } from "../../files/sync/sync-conflict.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import { OpenAIContainerWorkspaceSection } from "../../openai/workspace/container-workspace-section.ts";
import type { Section } from "../section.ts";
import type { FilesSection, WorkspaceSection } from "./mounted-section.ts";
import type { WorkspaceSectionOptions } from "./workspace-options.ts";

test("WorkspaceSection has every member that all workspaces share", () => {
  expectTypeOf<WorkspaceSection>().toExtend<Section>();
  expectTypeOf<WorkspaceSection>().toExtend<FilesSection>();
  expectTypeOf<WorkspaceSection>().toExtend<AsyncDisposable>();
  expectTypeOf<WorkspaceSection["mountPreviews"]>().toEqualTypeOf<readonly HostMountPreview[]>();
  expectTypeOf<WorkspaceSection["filesystem"]>().toEqualTypeOf<Filesystem>();
  expectTypeOf<WorkspaceSection["tempDir"]>().toEqualTypeOf<string>();
  expectTypeOf<WorkspaceSection["syncedDir"]>().toEqualTypeOf<string | null>();
  expectTypeOf<WorkspaceSection["ready"]>().returns.toEqualTypeOf<Promise<void>>();
  expectTypeOf<WorkspaceSection["diff"]>().returns.toEqualTypeOf<Promise<WorkspaceDiff>>();
  expectTypeOf<WorkspaceSection["cleanup"]>().returns.toEqualTypeOf<Promise<SyncReport>>();
});

test("the sections of both providers are WorkspaceSections", () => {
  expectTypeOf<OpenAIContainerWorkspaceSection>().toExtend<WorkspaceSection>();
  expectTypeOf<ClaudeAgentWorkspaceSection>().toExtend<WorkspaceSection>();
});

test("WorkspaceSectionOptions creates the section of either provider", () => {
  expectTypeOf<WorkspaceSectionOptions["mounts"]>().toEqualTypeOf<
    readonly HostMount[] | undefined
  >();
  expectTypeOf<WorkspaceSectionOptions["onConflict"]>().toEqualTypeOf<
    "keep" | "overwrite" | "both" | undefined
  >();
  const create = (options: WorkspaceSectionOptions, isClaude: boolean): WorkspaceSection =>
    isClaude
      ? new ClaudeAgentWorkspaceSection(options)
      : new OpenAIContainerWorkspaceSection(options);
  expectTypeOf(create).returns.toEqualTypeOf<WorkspaceSection>();
});

test("reports and diffs have typed entries", () => {
  expectTypeOf<SyncReport["conflicts"]>().toEqualTypeOf<readonly SyncConflict[]>();
  expectTypeOf<SyncReport["conflictsDir"]>().toEqualTypeOf<string | null>();
  expectTypeOf<WorkspaceDiff["files"]>().toEqualTypeOf<readonly FileDiff[]>();
  expectTypeOf<FileDiff["status"]>().toEqualTypeOf<"added" | "changed" | "deleted">();
  expectTypeOf<FileDiff["patch"]>().toEqualTypeOf<string | null>();
});
