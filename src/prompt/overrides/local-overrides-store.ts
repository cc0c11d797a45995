import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson, stableStringify } from "../../base/json.ts";
import { checkKey } from "../../base/names.ts";
import { list } from "../../base/show.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { PromptDescriptor } from "../prompt-descriptor.ts";
import type { Overrides, OverridesStore } from "./overrides.ts";

/** Keeps overrides as files, `ns/key/tag.json`, for people to read and review. */
export class LocalOverridesStore implements OverridesStore {
  readonly #filesystem: Filesystem;

  constructor(filesystem: Filesystem) {
    if (typeof filesystem?.readText !== "function") {
      throw new InvalidOptionError({
        field: "LocalOverridesStore(filesystem)",
        value: filesystem,
        rule: "must be a Filesystem",
        remedy: 'new LocalOverridesStore(new HostFilesystem("overrides"))',
      });
    }
    this.#filesystem = filesystem;
  }

  async load(descriptor: PromptDescriptor, tag: string): Promise<Overrides | null> {
    const path = pathOf(descriptor, tag);
    if (!(await this.#filesystem.exists(path))) return null;
    const json = parseJson(await this.#filesystem.readText(path));
    if (json.ok && isSaved(json.value)) return json.value;
    const problem = json.ok ? "it is not what save() wrote" : json.problem;
    throw new WinkError(`The overrides in "${path}" cannot be read: ${problem}; mend or delete it`);
  }

  /** Refuses what was not written for the prompt as it is. */
  async save(descriptor: PromptDescriptor, tag: string, overrides: Overrides): Promise<void> {
    const path = pathOf(descriptor, tag);
    refuseStale(descriptor, overrides);
    const { sections = {}, tools = {} } = overrides;
    const ordered: unknown = JSON.parse(stableStringify({ version: 1, sections, tools }));
    await this.#filesystem.writeText(path, `${JSON.stringify(ordered, null, 2)}\n`);
  }
}

function pathOf({ ns, key }: PromptDescriptor, tag: string): string {
  return `${checkKey(ns, "ns")}/${checkKey(key, "key")}/${checkKey(tag, "overrides tag")}.json`;
}

function isSaved(value: unknown): value is Overrides {
  if (!isPlainObject(value) || value["version"] !== 1) return false;
  const { sections, tools } = value;
  return (
    isRecordOf(sections, { expectedHash: isText, body: isText }) &&
    isRecordOf(tools, {
      expectedContractHash: isText,
      description: (text) => text === undefined || isText(text),
      paramDescriptions: (texts) => texts === undefined || isRecordOf(texts, {}, isText),
    })
  );
}

type Is = (value: unknown) => boolean;

function isRecordOf(
  value: unknown,
  fields: Readonly<Record<string, Is>>,
  isEntry: Is = isPlainObject,
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

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function refuseStale({ sections, tools }: PromptDescriptor, overrides: Overrides): void {
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
    rule: "must be written for the prompt as it is",
    remedy: `take the hashes of ${list(stale)} from rendered.descriptor`,
  });
}
