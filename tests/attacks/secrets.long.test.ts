import { generateKeyPairSync } from "node:crypto";
import { linkSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type HostMount,
  materialize,
  type PlanMountsOptions,
  planMounts,
} from "weakincentives/files";
import { WorkspaceChanges } from "../../src/files/changes/workspace-changes.ts";
import { MountedFolder } from "../../src/files/mounts/mounted-folder.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { filesIn } from "../support/files-in.ts";
import { SECRET_PATHS } from "../support/secret-names.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "mounted secrets";
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const CERTIFICATE = PEM.replaceAll("PRIVATE KEY", "CERTIFICATE");

/** Mounts a folder and returns the paths of the files that were copied. */
async function mount(
  hostPath: string,
  options: Partial<HostMount> & Pick<PlanMountsOptions, "allowSecrets"> = {},
): Promise<readonly string[]> {
  const { allowSecrets, ...rest } = options;
  const plan = planMounts([{ hostPath, mountPath: "in", ...rest }], {
    allowedHostRoots: "any",
    allowSecrets,
  });
  await using copied = await materialize(plan);
  return Object.keys(filesIn(copied.directory));
}

attempt(
  {
    finding: "C12",
    surface,
    tries:
      "mount a folder with 300 files that are named like keys and credentials, and copies of them",
    shows: "None is copied; each is listed in the preview with the reason.",
  },
  async () => {
    const through: string[] = [];
    for (const path of SECRET_PATHS) {
      const folder = temporaryTree({ [path]: "x", "ordinary.txt": "x" });
      const plan = planMounts([{ hostPath: folder }], { allowedHostRoots: "any" });
      const [preview] = plan.previews;
      const isWithheld = plan.files.length === 1 && preview?.withheld.join() === path;
      if (!isWithheld) through.push(path);
    }
    return { tried: SECRET_PATHS.length, through };
  },
  { timeout: 120_000 },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "give a private key an ordinary name: notes.txt, README, data.csv, config.json, image.png",
    shows: "Its content is recognized when it is copied, and the file is withheld.",
  },
  async () => {
    const account = JSON.stringify({ type: "service_account", private_key: PEM });
    const through = await mount(
      temporaryTree({
        "notes.txt": PEM,
        README: `# Notes\n\n${PEM}`,
        "data.csv": PEM.replaceAll("\n", "\r\n"),
        "config.json": account,
        "image.png": PEM,
      }),
    );
    return { tried: 5, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "hide a key in another form: binary DER, UTF-16, CR line endings, indented YAML, quoted mail",
    shows: "Each form is recognized.",
  },
  async () => {
    const through = await mount(
      temporaryTree({
        "pkcs8.bin": privateKey.export({ type: "pkcs8", format: "der" }),
        "pkcs1.bin": privateKey.export({ type: "pkcs1", format: "der" }),
        "wide.txt": Buffer.from(`\uFEFF${PEM}`, "utf16le"),
        "mac.txt": PEM.replaceAll("\n", "\r"),
        "values.yaml": `tls:\n  key: |\n${PEM.replace(/^/gm, "    ")}`,
        "mail.txt": PEM.replace(/^/gm, "> "),
      }),
    );
    return { tried: 6, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "put a key after a chain of certificates in a file for the public ones",
    shows: "The first 16 KiB are searched, so the key after three certificates is found.",
  },
  async () => {
    const chain = CERTIFICATE.repeat(3) + PEM;
    return { through: await mount(temporaryTree({ "bundle.crt": chain })) };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "disguise a secret name with invisible characters, wide letters, spaces or dots at its end",
    shows: "The name is compared without them.",
  },
  async () => {
    const names = [".env ", ".env.", ".e\u200Bnv", "id\u2060_rsa", "．ｅｎｖ", "id_rsa ."];
    const tree = Object.fromEntries(names.map((name) => [name, "x"]));
    return { tried: names.length, through: await mount(temporaryTree(tree)) };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "reach a key file through a symlink or a hard link with an ordinary name",
    shows: "The symlink's target has the secret name, and the hard link has the secret content.",
  },
  async () => {
    const folder = temporaryTree({ ".env": "KEY=1\n", "real/id_rsa": PEM });
    symlinkSync(join(folder, ".env"), join(folder, "settings.txt"));
    linkSync(join(folder, "real/id_rsa"), join(folder, "linked.txt"));
    return { tried: 2, through: await mount(folder, { followSymlinks: true }) };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "write a key into a planned file before it is copied, with the same size, time and inode",
    shows: "The content is checked in the bytes that are copied, not when the mount is planned.",
  },
  async () => {
    const folder = temporaryTree({ "a.txt": "x".repeat(PEM.length) });
    const path = join(folder, "a.txt");
    const plan = planMounts([{ hostPath: folder }], { allowedHostRoots: "any" });
    const { atime, mtime } = statSync(path);
    writeFileSync(path, PEM);
    utimesSync(path, atime, mtime);
    try {
      await using copied = await materialize(plan);
      return { through: Object.keys(filesIn(copied.directory)) };
    } catch {
      return { through: [] }; // the file system keeps finer times than utimes sets
    }
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "mount the key file itself instead of its folder",
    shows: "It is withheld too; only allowSecrets mounts it.",
  },
  async () => {
    const folder = temporaryTree({ id_rsa: PEM, "notes.txt": PEM });
    const through = [
      ...(await mount(join(folder, "id_rsa"))),
      ...(await mount(join(folder, "notes.txt"))),
    ];
    const allowed = await mount(join(folder, "id_rsa"), { allowSecrets: ["id_rsa"] });
    return { tried: 2, through: allowed.length === 1 ? through : [...through, "not allowed"] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "get other secrets along with the one that allowSecrets names",
    shows: "A permission is for one path or glob: neighbors, subfolders and copies stay withheld.",
  },
  async () => {
    const tree = { ".env": "x", "sub/.env": "x", ".env.local": "x", ".env~": "x", "key.txt": PEM };
    const copied = await mount(temporaryTree(tree), { allowSecrets: [".env"] });
    return { tried: 4, through: copied.filter((path) => path !== "in/.env") };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "delete or replace a withheld key of the host by syncing the workspace back",
    shows:
      "The key on the host stays as it is; a file that code created at its path is a conflict.",
  },
  async () => {
    const host = temporaryTree({ "keys/deploy.txt": PEM, "keys/other.txt": PEM, "a.txt": "a" });
    const plan = planMounts([{ hostPath: host, mountPath: "." }], { allowedHostRoots: "any" });
    const folder = new MountedFolder({ plan });
    try {
      const files = await folder.ready();
      await files.writeText("keys/deploy.txt", "replaced");
      await new WorkspaceChanges(folder).syncTo(host);
      const after = filesIn(host);
      const changed = ["keys/deploy.txt", "keys/other.txt"].filter((path) => after[path] !== PEM);
      return { tried: 2, through: changed };
    } finally {
      await folder.remove();
    }
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "read a withheld key from what the library leaves in temporary folders",
    shows: "Not a byte of it is written: the check comes before the copy is created.",
  },
  async () => {
    const host = temporaryTree({ "notes.txt": PEM, "a.txt": "a" });
    const plan = planMounts([{ hostPath: host, mountPath: "." }], { allowedHostRoots: "any" });
    const folder = new MountedFolder({ plan });
    try {
      await folder.ready();
      const left = readdirSync(folder.home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .filter(({ parentPath, name }) => statSync(join(parentPath, name)).size >= PEM.length);
      const [preview] = folder.previews;
      const isListed = preview?.withheld.join() === "notes.txt" && preview.files === 1;
      return { through: isListed ? left.map(({ name }) => name) : ["not listed"] };
    } finally {
      await folder.remove();
    }
  },
);
