import { spawn } from "node:child_process";
import { readdirSync, realpathSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { findDiskSupport } from "../../src/local/containers/disks/find-disk-support.ts";
import { listMounts } from "../../src/local/containers/disks/list-mounts.ts";
import { unmountBelow } from "../../src/local/containers/disks/unmount-below.ts";
import type { LocalModel } from "../../src/local/models/local-model.ts";
import { LocalProvider } from "../../src/local/provider.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { isBubblewrapUsable } from "../support/attacks/bubblewrap-target.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "container disks";
const usable = (await findDiskSupport()).usable && (await isBubblewrapUsable());
const headers = { "content-type": "application/json" };

/** A model that runs the request's text as code, once. */
const model: LocalModel = {
  respond: async ({ items, text }) =>
    items.some((item) => "type" in item && item.type === "code_interpreter_call")
      ? [{ say: "Done." }]
      : [{ code: text }],
};

function createDataDir(): string {
  const dataDir = realpathSync(temporaryTree());
  onTestFinished(() => unmountBelow(dataDir));
  return dataDir;
}

function createClient(provider: LocalProvider) {
  const send = async (path: string, body: object | FormData) => {
    const isForm = body instanceof FormData;
    const response = await provider.fetch(`http://local/v1${path}`, {
      method: "POST",
      ...(isForm ? { body } : { headers, body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  return {
    createContainer: async (): Promise<string> =>
      JSON.parse((await send("/containers", { name: "attack" })).text).id,
    run: (container: string, input: string) =>
      send("/responses", {
        model: "any",
        input,
        include: ["code_interpreter_call.outputs"],
        tools: [{ type: "code_interpreter", container }],
      }),
    upload: (container: string, bytes: number) => {
      const form = new FormData();
      form.append("file", new File([Buffer.alloc(bytes, 1)], "upload.bin"));
      return send(`/containers/${container}/files`, form);
    },
  };
}

describe.skipIf(!usable)("Disks of a provider's containers", () => {
  attempt(
    {
      finding: "own",
      surface,
      tries: "fill a container, so that uploads to it fail or damage it",
      shows:
        "The upload gets a 400 that names the place and the remedy; after deleting files, uploads work again.",
    },
    async () => {
      await using provider = new LocalProvider({ model, dataDir: createDataDir() });
      const { createContainer, run, upload } = createClient(provider);
      const container = await createContainer();
      const full = await run(
        container,
        `
for name in ("full1", "full2"):
    try:
        with open(name, "wb", buffering=0) as f:
            while True: f.write(bytes(1 << 24))
    except OSError as error: print(error)`,
      );
      const refused = await upload(container, 1 << 25);
      await run(container, "import os; os.unlink('full1'); os.unlink('full2')");
      const accepted = await upload(container, 1 << 20);
      return {
        through: [
          ...(full.text.includes("No space left on device") ? [] : [full.text]),
          ...(refused.status === 400 &&
          refused.text.includes("no space left for this file in /mnt/data")
            ? []
            : [refused.text]),
          ...(accepted.status === 200 ? [] : [accepted.text]),
        ],
      };
    },
    { timeout: 60_000 },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "kill the provider with SIGKILL while its disks are mounted, and start it again on the same data",
      shows: "The next start finds the disks mounted and their files in place.",
    },
    async () => {
      const dataDir = createDataDir();
      const module = new URL("../../src/local/provider.ts", import.meta.url).href;
      const program = `
        import { LocalProvider } from ${JSON.stringify(module)};
        const provider = new LocalProvider({ dataDir: ${JSON.stringify(dataDir)}, model: {
          respond: async ({ items }) => items.some((item) => item.type === "code_interpreter_call")
            ? [{ say: "Done." }] : [{ code: "open('kept', 'w').write('here')" }] } });
        const send = async (path, body) => await (await provider.fetch("http://local/v1" + path,
          { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
        const { id } = await send("/containers", { name: "x" });
        await send("/responses", { model: "any", input: "x", tools: [{ type: "code_interpreter", container: id }] });
        console.log(id); setInterval(() => {}, 1000);`;
      const killed = spawn(process.execPath, ["--input-type=module", "-e", program]);
      const id = await new Promise<string>((resolve) =>
        killed.stdout.once("data", (text) => resolve(`${text}`.trim())),
      );
      killed.kill("SIGKILL");
      await new Promise((resolve) => killed.once("exit", resolve));
      const wasMounted = listMounts(dataDir).length > 0;
      const through: string[] = wasMounted ? [] : ["the attack did not leave a disk mounted"];
      {
        await using provider = new LocalProvider({ model, dataDir });
        const { text } = await createClient(provider).run(id, "print(open('kept').read())");
        if (!text.includes("here")) through.push(text);
      }
      return { through: [...through, ...listMounts(dataDir)] };
    },
    { timeout: 60_000 },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "start a provider whose disk image was cut off",
      shows:
        "Requests for that container name the image and the remedy, and other containers work.",
    },
    async () => {
      const dataDir = createDataDir();
      let damaged = "";
      {
        await using provider = new LocalProvider({ model, dataDir });
        damaged = await createClient(provider).createContainer();
      }
      truncateSync(join(dataDir, "containers", damaged, "disk.img"), 5_000);
      await using provider = new LocalProvider({ model, dataDir, onFault: () => {} });
      const { createContainer, run } = createClient(provider);
      const first = await run(damaged, "print(1)");
      const second = await run(await createContainer(), "print('works')");
      return {
        tried: 2,
        through: [
          ...(first.text.includes("is damaged: delete the container") ? [] : [first.text]),
          ...(second.text.includes("works") ? [] : [second.text]),
        ],
      };
    },
    { timeout: 60_000 },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "create and delete containers in parallel, so that a disk, a mount or a loop device stays behind",
      shows: "Nothing is mounted or stored after the provider is disposed of.",
    },
    async () => {
      const dataDir = createDataDir();
      {
        await using provider = new LocalProvider({ model, dataDir });
        const { createContainer } = createClient(provider);
        const ids = await Promise.all(Array.from({ length: 8 }, createContainer));
        const drop = (id: string) =>
          provider.fetch(`http://local/v1/containers/${id}`, { method: "DELETE" });
        await Promise.all(ids.slice(0, 6).map(drop));
      }
      const containers = readdirSync(join(dataDir, "containers"));
      const isDropped = containers.length === 2;
      const isSmall = containers.every(
        (id) => statSync(join(dataDir, "containers", id, "disk.img")).blocks < 10_000,
      );
      return {
        tried: 8,
        through: [
          ...listMounts(dataDir),
          ...(isDropped && isSmall ? [] : [`left: ${containers.join(", ")}`]),
        ],
      };
    },
    { timeout: 60_000 },
  );
});
