import { type Lockfile, listShipped, type Manifest, toPackageName } from "./lockfile.ts";

/** The parts of npm's CycloneDX document that differ between runs or are checked. */
export interface Bom {
  readonly bomFormat?: string;
  readonly specVersion?: string;
  readonly serialNumber?: string;
  readonly metadata: {
    readonly timestamp?: string;
    readonly component: { readonly name: string; readonly "bom-ref": string };
  };
  readonly components: readonly BomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface BomComponent {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly hashes?: readonly unknown[];
  readonly licenses?: readonly unknown[];
  readonly properties?: readonly unknown[];
}

/**
 * Returns the document without the parts that change from run to run and from folder to folder, and with only the components
 * that users install, in the order of their names: same lockfile, same bytes.
 */
export function normalizeBom(bom: Bom, { name = "" }: Manifest, lockfile: Lockfile): Bom {
  const { serialNumber: _serial, metadata, components, dependencies, ...rest } = bom;
  const { timestamp: _time, component, ...facts } = metadata;
  const shipped = new Set([component["bom-ref"]]);
  for (const [path, { version }] of listShipped(lockfile)) {
    shipped.add(`${toPackageName(path)}@${version}`);
  }
  return {
    ...rest,
    metadata: { ...facts, component: { ...component, name } },
    components: components
      .filter((one) => shipped.has(one["bom-ref"]))
      .map(({ properties: _paths, ...one }) => one) // where it is installed
      .sort((one, other) => (one["bom-ref"] < other["bom-ref"] ? -1 : 1)),
    dependencies: dependencies
      .filter(({ ref }) => shipped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => shipped.has(on)) })),
  };
}

/** Returns why a document is not a complete CycloneDX list of what users install. */
export function findBomProblems(bom: Bom, lockfile: Lockfile): readonly string[] {
  const problems: string[] = [];
  if (bom.bomFormat !== "CycloneDX") problems.push(`bomFormat is ${bom.bomFormat}`);
  if (!/^1\.\d$/.test(bom.specVersion ?? "")) problems.push(`specVersion is ${bom.specVersion}`);
  for (const [path, { version }] of listShipped(lockfile)) {
    const name = toPackageName(path);
    const found = bom.components.find((one) => one.name === name && one.version === version);
    if (found === undefined) problems.push(`${name}@${version} is missing`);
    else if (!found.purl || !found.hashes?.length || !found.licenses?.length) {
      problems.push(`${name}@${version} has no address, hash or license`);
    }
  }
  return problems;
}
