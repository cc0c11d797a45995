import { agentTemplate } from "./agent-template.ts";
import { createManifest, type PackageVersions } from "./create-manifest.ts";
import { createReadme } from "./create-readme.ts";
import { mainTemplate } from "./main-template.ts";
import { testTemplate, turnsTemplate } from "./test-template.ts";

/** A file of a new project. */
export interface ProjectFile {
  /** Path in the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Returns the files of a project with one agent, a test on the local provider, and CI. */
export function createProjectFiles(
  name: string,
  versions: PackageVersions,
): readonly ProjectFile[] {
  return [
    { path: "package.json", text: toJson(createManifest(name, versions)) },
    { path: "tsconfig.json", text: toJson(TSCONFIG) },
    { path: "agent.mts", text: agentTemplate },
    { path: "main.mts", text: mainTemplate },
    { path: "agent.test.mts", text: testTemplate },
    { path: "turns.json", text: turnsTemplate },
    { path: "README.md", text: createReadme(name) },
    { path: ".gitignore", text: IGNORED },
    { path: ".github/workflows/ci.yml", text: WORKFLOW },
  ];
}

function toJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The settings of the guide, for files that import each other with their extension. */
const TSCONFIG = {
  compilerOptions: {
    module: "nodenext",
    target: "es2023",
    types: ["node"],
    strict: true,
    noEmit: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
  },
  include: ["**/*.mts"],
};

const IGNORED = `node_modules/
sessions/
.env
`;

const WORKFLOW = `name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
          cache: npm
      - run: npm ci
      - run: npm run types
      - run: npm test # no key: the tests run on the local provider
`;
