import type { Entry, EntryKind } from "../entry.ts";

/** A visible line of the timeline. */
export interface TreeRow {
  readonly entry: Entry;
  /** 0 at the top. */
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
  /** Whether the filter selects the entry itself, and not only an entry below it. */
  readonly isMatch: boolean;
}

/** Selects entries. Without a filter, all are shown. */
export interface EntryFilter {
  /** Kinds to show; `null` for all. */
  readonly kinds: ReadonlySet<EntryKind> | null;
  /** Whether to show only failures. */
  readonly onlyFailed: boolean;
  /** Text that an entry must contain, in any case; empty for any text. */
  readonly query: string;
  /** Keys of entries that contain the text outside of what the timeline shows. */
  readonly found: ReadonlySet<string>;
}

interface Node {
  entry: Entry;
  readonly children: string[];
  /** Title and text in lower case, made when it is first searched. */
  searchable: string | null;
}

/** The entries of a session as a tree. Filtering is linear in the number of entries. */
export class EntryTree {
  readonly #nodes = new Map<string, Node>();
  readonly #roots: string[] = [];
  readonly #orphans = new Map<string, string[]>();

  /** Number of entries. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Adds entries, or replaces those with the same key. */
  put(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const known = this.#nodes.get(entry.key);
      if (known) {
        known.entry = entry;
        known.searchable = null;
      } else this.#add(entry);
    }
  }

  get(key: string): Entry | undefined {
    return this.#nodes.get(key)?.entry;
  }

  /** Lists the entries directly below an entry. */
  listChildren(key: string): readonly Entry[] {
    return (this.#nodes.get(key)?.children ?? []).flatMap((child) => this.get(child) ?? []);
  }

  /** Lists an entry and all that contain it, the outermost first. */
  listPath(key: string): readonly Entry[] {
    const path: Entry[] = [];
    for (let entry = this.get(key); entry; entry = this.get(entry.parent ?? "")) {
      path.unshift(entry);
      if (entry.parent === null || path.length > MAX_DEPTH) break;
    }
    return path;
  }

  /** Lists the entries with these keys in the order of the timeline. */
  sort(keys: readonly string[]): readonly Entry[] {
    const wanted = new Set(keys);
    const all = { kinds: null, onlyFailed: false, query: "", found: wanted };
    return this.listRows(all, new Set()).flatMap(({ entry }) =>
      wanted.has(entry.key) ? entry : [],
    );
  }

  /** Lists the visible lines, without what is below collapsed entries. A filter shows that too. */
  listRows(filter: EntryFilter, collapsed: ReadonlySet<string>): readonly TreeRow[] {
    const isFiltered = isActive(filter);
    const shown = isFiltered ? this.#match(filter) : null;
    const rows: TreeRow[] = [];
    const open = [...this.#roots].reverse().map((key) => ({ key, depth: 0 }));
    for (let next = open.pop(); next; next = open.pop()) {
      const { key, depth } = next;
      const node = this.#nodes.get(key);
      if (!node || (shown && !shown.has(key))) continue;
      const hasChildren = node.children.length > 0;
      const isOpen = hasChildren && (isFiltered || !collapsed.has(key));
      const isMatch = shown?.get(key) ?? true;
      rows.push({ entry: node.entry, depth, hasChildren, isOpen, isMatch });
      if (!isOpen) continue;
      for (let index = node.children.length - 1; index >= 0; index--) {
        open.push({ key: node.children[index] ?? "", depth: depth + 1 });
      }
    }
    return rows;
  }

  #add(entry: Entry): void {
    const { key, parent } = entry;
    const children = this.#orphans.get(key) ?? [];
    this.#orphans.delete(key);
    this.#nodes.set(key, { entry, children, searchable: null });
    if (parent === null) this.#roots.push(key);
    else {
      const siblings = this.#nodes.get(parent)?.children ?? this.#orphans.get(parent);
      if (siblings) siblings.push(key);
      else this.#orphans.set(parent, [key]);
    }
  }

  /** Returns the entries to show: matches with `true`, and entries that contain one with `false`. */
  #match(filter: EntryFilter): ReadonlyMap<string, boolean> {
    const shown = new Map<string, boolean>();
    const query = filter.query.toLowerCase();
    for (const [key, node] of this.#nodes) {
      if (!isSelected(node, filter, query)) continue;
      shown.set(key, true);
      for (let parent = node.entry.parent; parent !== null && !shown.has(parent); ) {
        shown.set(parent, false);
        parent = this.#nodes.get(parent)?.entry.parent ?? null;
      }
    }
    return shown;
  }
}

const MAX_DEPTH = 100;

/** Returns whether a filter hides anything. */
export function isActive({ kinds, onlyFailed, query }: EntryFilter): boolean {
  return kinds !== null || onlyFailed || query !== "";
}

function isSelected(node: Node, { kinds, onlyFailed, found }: EntryFilter, query: string): boolean {
  const { entry } = node;
  if (kinds && !kinds.has(entry.kind)) return false;
  if (onlyFailed && entry.status !== "failed" && entry.kind !== "rollback") return false;
  if (query === "") return true;
  node.searchable ??= `${entry.title}\n${entry.text}\n${entry.type}`.toLowerCase();
  return node.searchable.includes(query) || found.has(entry.key);
}
