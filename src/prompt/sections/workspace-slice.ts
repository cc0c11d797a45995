import type { KeptFile, KeptTree } from "../../files/kept/kept-tree.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";

/** The state of a workspace's files, as the changes since the last manifest. */
export interface WorkspaceManifest {
  /** Key of the workspace's section. */
  readonly section: string;
  /** Whether it lists all files, and not only the changed ones. */
  readonly isComplete: boolean;
  /** Files with their digests, sizes and permission bits, by path. */
  readonly files: Readonly<Record<string, KeptFile>>;
  /** Paths of files that no longer exist. */
  readonly deleted: readonly string[];
  /** All folders with their permission bits. @default unchanged */
  readonly folders?: Readonly<Record<string, number>> | undefined;
  /** The files as they were mounted, if it is complete. @default these files */
  readonly mounted?: KeptTree | undefined;
  /** The container that has these files; `null` if there is none. */
  readonly containerId: string | null;
  /** Digest of all files: that of the lines that `sha256sum` prints, sorted by path. */
  readonly digest: string;
  /** Set if code ran in the container whose changes were not downloaded. They are not listed. */
  readonly hasUnfetchedChanges?: true | undefined;
}

/** A session's knowledge of a workspace's files. */
export interface KeptWorkspace extends KeptTree {
  /** The files as they were mounted. */
  readonly mounted: KeptTree;
  readonly containerId: string | null;
  readonly digest: string;
  readonly hasUnfetchedChanges: boolean;
}

/** The state of {@link workspaceSlice}. */
export interface KeptWorkspaces {
  /** Workspaces by the keys of their sections. */
  readonly sections: Readonly<Record<string, KeptWorkspace>>;
  /** Containers that retain data of a conversation with zero data retention. */
  readonly heldContainers: readonly string[];
}

/** Knows the files of a session's workspaces, and the containers that still retain data. */
export const workspaceSlice = addLibrarySlice(
  defineSlice<KeptWorkspaces>("wink.workspace", {
    initial: { sections: {}, heldContainers: [] },
    policy: "log",
    on: {
      WorkspaceKept: (state, { manifest }) => ({
        ...state,
        sections: {
          ...state.sections,
          [manifest.section]: applyManifest(findWorkspace(state, manifest.section), manifest),
        },
      }),
      DataHeld: (state, { containerId, isCallers }) =>
        isCallers || state.heldContainers.includes(containerId)
          ? state
          : { ...state, heldContainers: [...state.heldContainers, containerId] },
      DataReleased: (state, { containerId }) => ({
        ...state,
        heldContainers: state.heldContainers.filter((id) => id !== containerId),
      }),
    },
  }),
);

/** Returns a session's knowledge of a section's workspace, or `null`. */
export function findWorkspace({ sections }: KeptWorkspaces, section: string): KeptWorkspace | null {
  return (Object.hasOwn(sections, section) && sections[section]) || null;
}

function applyManifest(
  before: KeptWorkspace | null,
  { isComplete, deleted, containerId, digest, hasUnfetchedChanges, ...now }: WorkspaceManifest,
): KeptWorkspace {
  const known = isComplete || !before ? EMPTY : before;
  const gone = new Set(deleted);
  const kept = Object.entries(known.files).filter(([path]) => !gone.has(path));
  const files = Object.fromEntries([...kept, ...Object.entries(now.files)]);
  const folders = now.folders ?? known.folders;
  const mounted = isComplete || !before ? (now.mounted ?? { files, folders }) : before.mounted;
  const isUnfetched = hasUnfetchedChanges === true;
  return { files, folders, mounted, containerId, digest, hasUnfetchedChanges: isUnfetched };
}

const EMPTY: KeptTree = { files: {}, folders: {} };
