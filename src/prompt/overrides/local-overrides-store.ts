import { checkKey } from "../../base/check-names.ts";
import {
  checkKnownKeys,
  InvalidOptionError,
  type KnownKeys,
  WinkError,
} from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson, stableStringify } from "../../base/json.ts";
import { quoteNames } from "../../base/quote-value.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { PromptDescriptor } from "../prompt-descriptor.ts";
import type { Overrides, OverridesStore, SectionOverride, ToolOverride } from "./overrides.ts";

const overridesKeys: KnownKeys<Overrides> = { sections: true, tools: true };
const sectionKeys: KnownKeys<SectionOverride> = { body: true, expectedHash: true };
const toolKeys: KnownKeys<ToolOverride> = {
  description: true,
  expectedContractHash: true,
  paramDescriptions: true,
};

/** Stores overrides as readable files, `ns/key/tag.json`, that can be reviewed and committed. */
export class LocalOverridesStore implements OverridesStore {
  readonly #filesystem: Filesystem;

  constructor(filesystem: Filesystem) {
    if (typeof filesystem?.readText !== "function") {
      throw new InvalidOptionError({
        field: "LocalOverridesStore(filesystem)",
        value: filesystem,
        rule: "must be a Filesystem",
        remedy: 'use new LocalOverridesStore(new HostFilesystem("overrides"))',
      });
    }
    this.#filesystem = filesystem;
  }

  /**
   * Loads the overrides of a prompt, or returns `null` if there are none. Throws `WinkError` if the
   * file is invalid.
   */
  async load(descriptor: PromptDescriptor, tag: string): Promise<Overrides | null> {
    const path = toPath(descriptor, tag);
    if (!(await this.#filesystem.exists(path))) return null;
    const json = parseJson(await this.#filesystem.readText(path));
    if (json.ok && isSavedFile(json.value)) return json.value;
    const problem = json.ok ? "save() did not write it" : json.problem;
    throw new WinkError(
      `The overrides in "${path}" cannot be read: ${problem}. Fix or delete the file.`,
    );
  }

  /** Stores overrides. Rejects overrides whose hashes do not match the current prompt. */
  async save(descriptor: PromptDescriptor, tag: string, overrides: Overrides): Promise<void> {
    const path = toPath(descriptor, tag);
    checkOverrideKeys(overrides);
    rejectStale(descriptor, overrides);
    const { sections = {}, tools = {} } = overrides;
    const ordered: unknown = JSON.parse(stableStringify({ version: 1, sections, tools }));
    await this.#filesystem.writeText(path, `${JSON.stringify(ordered, null, 2)}\n`);
  }
}

function checkOverrideKeys(overrides: Overrides): void {
  const field = "LocalOverridesStore.save(overrides)";
  checkKnownKeys(overrides, field, overridesKeys);
  for (const [path, override] of Object.entries(overrides.sections ?? {}))
    checkKnownKeys(override, `${field}.sections["${path}"]`, sectionKeys);
  for (const [name, override] of Object.entries(overrides.tools ?? {}))
    checkKnownKeys(override, `${field}.tools["${name}"]`, toolKeys);
}

function toPath({ ns, key }: PromptDescriptor, tag: string): string {
  return `${checkKey(ns, "ns")}/${checkKey(key, "key")}/${checkKey(tag, "overrides tag")}.json`;
}

function isSavedFile(value: unknown): value is Overrides {
  if (!isPlainObject(value) || value["version"] !== 1) return false;
  const { sections, tools } = value;
  return (
    isRecordWith(sections, { expectedHash: isString, body: isString }) &&
    isRecordWith(tools, {
      expectedContractHash: isString,
      description: (text) => text === undefined || isString(text),
      paramDescriptions: (texts) => texts === undefined || isRecordWith(texts, {}, isString),
    })
  );
}

type Predicate = (value: unknown) => boolean;

function isRecordWith(
  value: unknown,
  fields: Readonly<Record<string, Predicate>>,
  isEntry: Predicate = isPlainObject,
): boolean {
  return (
    isPlainObject(value) &&
    Object.values(value).every(
      (entry) =>
        isEntry(entry) &&
        Object.entries(fields).every(([name, is]) => isPlainObject(entry) && is(entry[name])),
    )
  );
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function rejectStale({ sections, tools }: PromptDescriptor, overrides: Overrides): void {
  const current = new Map([
    ...sections.map(({ path, contentHash }) => [`section ${path}`, contentHash] as const),
    ...tools.map(({ name, contractHash }) => [`tool ${name}`, contractHash] as const),
  ]);
  const given = [
    ...Object.entries(overrides.sections ?? {}).map(
      ([path, { expectedHash }]) => [`section ${path}`, expectedHash] as const,
    ),
    ...Object.entries(overrides.tools ?? {}).map(
      ([name, { expectedContractHash }]) => [`tool ${name}`, expectedContractHash] as const,
    ),
  ];
  const stale = given.filter(([of, hash]) => current.get(of) !== hash).map(([of]) => of);
  if (stale.length === 0) return;
  throw new InvalidOptionError({
    field: "save(overrides)",
    value: stale,
    rule: "must have hashes that match the current prompt",
    remedy: `copy the hashes of ${quoteNames(stale)} from rendered.descriptor`,
  });
}
