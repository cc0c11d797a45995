/** The parts of this package's manifest that a new project depends on. */
export interface PackageVersions {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: { readonly zod: string };
  readonly devDependencies: { readonly typescript: string; readonly "@types/node": string };
}

/** Returns the `package.json` of a new project. */
export function createManifest(name: string, versions: PackageVersions): object {
  const { version, engines, peerDependencies, devDependencies } = versions;
  return {
    name,
    private: true,
    type: "module",
    engines: { node: engines.node },
    scripts: {
      start: "node --env-file-if-exists=.env main.mts",
      "start:local": "wink run --model turns.json main.mts",
      test: "node --test",
      types: "tsc",
    },
    dependencies: { weakincentives: `^${version}`, zod: peerDependencies.zod },
    devDependencies: {
      "@types/node": `^${devDependencies["@types/node"]}`,
      typescript: `^${devDependencies.typescript}`,
    },
  };
}
