import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dockerSandbox } from "../../src/local/sandbox/docker/docker-sandbox.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { listProcesses, MEBIBYTE, openTarget } from "../support/attacks/bubblewrap-target.ts";
import { listEngines, runClient, type TargetEngine } from "../support/attacks/docker-target.ts";
import { createStubEngine, DOCKER_INFO, IMAGE, printJson } from "../support/local/stub-engine.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

vi.setConfig({ testTimeout: 60_000 });
/** These attempts rely on mistakes of the person who runs the provider, so they run as that person. */
const engines = (await listEngines()).filter(({ as }) => as === "root" || process.getuid?.() !== 0);
const LIMITS = { timeoutMs: 5_000, maxOutputBytes: 10_000 };
const WAIT = { timeout: 15_000 };
const own = (tries: string, shows: string) =>
  ({ finding: "own", surface: "Docker and Podman", tries, shows }) as const;

function open({ engine, program }: TargetEngine, image?: string, root = temporaryTree()) {
  return dockerSandbox({ engine, program, image }).open({ root, memoryBytes: 300 * MEBIBYTE });
}

/** Lists the containers that sandboxes of a process have started: others use the engine at the same time. */
function listContainers(engine: TargetEngine, pid = process.pid): readonly string[] {
  const names = runClient(engine, "ps", "--all", "--format", "{{.Names}}").split("\n");
  return names.filter((name) => {
    const [prefix, owner = ""] = name.split(".");
    const text = Buffer.from(owner, "base64url").toString();
    return prefix === "wink-sandbox" && text.startsWith(`[${pid},`);
  });
}

/** Creates an image from the one for sandboxes, with instructions of a Dockerfile. */
function createImage(engine: TargetEngine, name: string, ...changes: readonly string[]): string {
  const base = process.env["WINK_SANDBOX_IMAGE"] ?? "python:3.13-slim";
  runClient(engine, "create", "--name", `${name}-base`, base, "true");
  const options = changes.flatMap((change) => ["--change", change]);
  runClient(engine, "commit", ...options, `${name}-base`, name);
  runClient(engine, "rm", `${name}-base`);
  onTestFinished(() => {
    runClient(engine, "rmi", "--force", name);
  });
  return name;
}

describe.each(engines)("The host of $engine", (engine) => {
  attempt(
    own(
      "an image that sets LD_PRELOAD, BASH_ENV, PYTHONSTARTUP, an entry point, a user and a working folder",
      "none of them has an effect: commands start from a fixed environment, as the container's own user",
    ),
    async () => {
      const image = createImage(
        engine,
        "wink-hostile",
        ...["ENV LD_PRELOAD=/mnt/data/evil.so", "ENV BASH_ENV=/mnt/data/evil.sh"],
        ...["ENV PYTHONSTARTUP=/mnt/data/evil.py", "ENV PYTHONPATH=/mnt/data", "USER root"],
        ...['ENTRYPOINT ["/bin/false"]', 'CMD ["reboot"]', "WORKDIR /nowhere"],
      );
      const evil = "echo evil";
      const root = temporaryTree({
        "evil.sh": evil,
        "evil.py": "print('evil')",
        "json.py": "print('evil')",
      });
      await using container = await open(engine, image, root);
      const run = await container.python(
        "import os\nprint(os.getuid(), sorted(os.environ), os.getcwd())",
        LIMITS,
      );
      const command = await container.shell("env; id -u; pwd", LIMITS);
      const seen = `${run.stdout}${run.error}${command.stdout}${command.stderr}`;
      expect(command.exitCode).toBe(0);
      const traces = ["evil", "LD_PRELOAD", "BASH_ENV", "PYTHONSTARTUP", "/nowhere"];
      const isRoot = /^0\b/m.test(seen);
      return {
        tried: 9,
        through: [...traces.filter((trace) => seen.includes(trace)), ...(isRoot ? ["root"] : [])],
      };
    },
  );

  attempt(
    own(
      "an image with a VOLUME, which engines create as an unlimited writable folder on the host",
      "the image is refused, and the message names the volume",
    ),
    async () => {
      const image = createImage(engine, "wink-volume", "VOLUME /big");
      const { engine: name, program } = engine;
      const { usable, reason } = await dockerSandbox({ engine: name, program, image }).probe();
      expect(reason).toContain("declares the volume /big");
      return { through: usable ? [reason] : [] };
    },
  );

  attempt(
    own(
      "an image without Python, to see whether its own programs run instead of the supervisor",
      "no program of the image runs, and the message says what is missing",
    ),
    async () => {
      const tar = join(temporaryTree({ "root/bin/sh": "#!" }), "root.tar");
      await once(spawn("tar", ["-cf", tar, "-C", join(tar, "../root"), "."]), "exit");
      runClient(engine, "import", tar, "wink-empty");
      onTestFinished(() => {
        runClient(engine, "rmi", "--force", "wink-empty");
      });
      const { engine: name, program } = engine;
      const probe = await dockerSandbox({ engine: name, program, image: "wink-empty" }).probe();
      expect(probe.reason).toContain("use an image with Python");
      return { through: probe.usable ? [probe.reason] : [] };
    },
  );

  attempt(
    own(
      "the image's tag is moved to another image after the sandbox was chosen",
      "containers start from the digest that passed the trial",
    ),
    async () => {
      const image = createImage(engine, "wink-moving");
      const { engine: name, program } = engine;
      const sandbox = dockerSandbox({ engine: name, program, image });
      expect((await sandbox.probe()).usable).toBe(true);
      const evil = createImage(engine, "wink-evil", "VOLUME /big");
      runClient(engine, "tag", evil, image);
      await using container = await sandbox.open({
        root: temporaryTree(),
        memoryBytes: 300 * MEBIBYTE,
      });
      const { stdout } = await container.shell("ls -d /big", LIMITS);
      return { through: stdout === "" ? [] : [stdout] };
    },
  );

  attempt(
    own(
      "a folder whose path contains commas, colons, quotes, mount options and a line break",
      "exactly this folder is mounted, writable, and no option is added",
    ),
    async () => {
      const parent = temporaryTree();
      const names = [
        "a:b",
        "a,readonly",
        'q"uote,ro',
        "c,source=.,d",
        "-v",
        "new\nline",
        "sp ace",
        "%s$HOME`id`",
      ];
      const through: string[] = [];
      for (const name of names) {
        const root = join(parent, name);
        mkdirSync(root);
        await using container = await open(engine, undefined, root);
        const { stdout } = await container.python(
          "open('made', 'w').close()\nimport os\nos.listdir()",
          LIMITS,
        );
        if (stdout !== "['made']\n" || !existsSync(join(root, "made")))
          through.push(`${name}: ${stdout}`);
      }
      expect(readdirSync(parent).length).toBe(names.length);
      return { tried: names.length, through };
    },
  );

  attempt(
    own(
      "the provider is killed with SIGKILL while code runs that blocks every signal",
      "the container ends within seconds, because its supervisor reads the end of its input",
    ),
    async () => {
      const root = temporaryTree();
      const child = await startVictim(engine, root);
      expect(listContainers(engine, child.pid)).toHaveLength(1);
      child.kill("SIGKILL");
      const listLeftovers = () => [...listContainers(engine, child.pid), ...listProcesses(root)];
      await expect.poll(listLeftovers, WAIT).toEqual([]);
      return { through: listLeftovers() };
    },
  );

  attempt(
    own(
      "the provider is killed while its container is paused, so that nothing in it can notice",
      "the next sandbox that starts removes the container",
    ),
    async () => {
      const root = temporaryTree();
      const child = await startVictim(engine, root);
      runClient(engine, "pause", ...listContainers(engine, child.pid));
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(listContainers(engine, child.pid)).toHaveLength(1);
      await using container = await open(engine);
      await container.python("1", LIMITS);
      await expect.poll(() => listContainers(engine, child.pid), WAIT).toEqual([]);
      return { through: listProcesses(root) };
    },
  );

  attempt(
    own(
      "another user's container has an image with the sandbox's label and a similar name",
      "it is not removed: the name must name an owner that has ended",
    ),
    async () => {
      const image = createImage(engine, "wink-labelled", "LABEL weakincentives.sandbox=1");
      const names = ["wink-sandbox.database", "database-wink-sandbox."];
      for (const name of names) {
        runClient(engine, "create", "--name", name, "--network", "none", image, "true");
        onTestFinished(() => {
          runClient(engine, "rm", "--force", name);
        });
      }
      await using container = await open(engine);
      await container.python("1", LIMITS);
      const left = runClient(engine, "ps", "--all", "--format", "{{.Names}}").split("\n");
      return { tried: names.length, through: names.filter((name) => !left.includes(name)) };
    },
  );

  attempt(
    own(
      "the engine's client is killed while code runs",
      "the run ends as failed, the container is removed, and the next run starts a new one",
    ),
    async () => {
      const root = temporaryTree();
      const container = await open(engine, undefined, root);
      try {
        const running = container.python("open('up', 'w').close()\nwhile True: pass", LIMITS);
        await expect.poll(() => existsSync(join(root, "up"))).toBe(true);
        for (const pid of listClients(root)) process.kill(pid, "SIGKILL");
        expect(await running).toMatchObject({ died: true, timedOut: false });
        expect((await container.python("6 * 7", LIMITS)).stdout).toBe("42\n");
      } finally {
        await container[Symbol.asyncDispose]();
      }
      await expect.poll(() => listContainers(engine), WAIT).toEqual([]);
      return { through: listProcesses(root) };
    },
  );

  attempt(
    own(
      "the container is stopped, killed and removed from outside while code runs",
      "the run ends as failed each time, and the next run starts a new container",
    ),
    async () => {
      const root = temporaryTree();
      await using container = await open(engine, undefined, root);
      const through: string[] = [];
      for (const [index, command] of [["stop"], ["kill"], ["rm", "--force"]].entries()) {
        const running = container.python(
          `open('up${index}', 'w').close()\nwhile True: pass`,
          LIMITS,
        );
        await expect.poll(() => existsSync(join(root, `up${index}`))).toBe(true);
        runClient(engine, ...command, ...listContainers(engine));
        if (!(await running).died) through.push(command.join(" "));
      }
      expect((await container.python("6 * 7", LIMITS)).stdout).toBe("42\n");
      return { tried: 3, through };
    },
  );

  attempt(
    own(
      "a container that is disposed of, aborted or timed out leaves a process or a container",
      "nothing is left on any of the ways",
    ),
    async () => {
      const root = temporaryTree();
      const container = await open(engine, undefined, root);
      const stop = new AbortController();
      const aborted = container.python("while True: pass", { ...LIMITS, signal: stop.signal });
      setTimeout(() => stop.abort(new Error("enough")), 300);
      await expect(aborted).rejects.toThrow("enough");
      await container.shell("setsid sleep 60 & sleep 60", { ...LIMITS, timeoutMs: 300 });
      const running = container.python("while True: pass", LIMITS);
      await container[Symbol.asyncDispose]();
      await running;
      // Podman's own clean-up can outlast its client for a moment.
      const listLeftovers = () => [...listProcesses(root), ...listContainers(engine)];
      await expect.poll(listLeftovers, WAIT).toEqual([]);
      return { tried: 3, through: listLeftovers() };
    },
  );

  test("writes files that the host can read, change and remove", async () => {
    const target = await openTarget({ sandbox: engine.sandbox });
    await target.python(
      "import os\nos.makedirs('a/b')\nopen('a/b/made', 'w').write('1')\nos.chmod('a', 0o700)",
    );
    expect(readFileSync(join(target.root, "a/b/made"), "utf8")).toBe("1");
    writeFileSync(join(target.root, "given"), "2", { mode: 0o600 });
    expect((await target.shell("cat given; echo 3 >> given")).stdout).toBe("2");
    expect(readFileSync(join(target.root, "given"), "utf8")).toBe("23\n");
  });
});

describe("The client of an engine", () => {
  attempt(
    own(
      "names of images that are options of the engine's client, or contain spaces or line breaks",
      "each is refused before any program starts",
    ),
    async () => {
      const engine = createStubEngine({ info: printJson(DOCKER_INFO), image: printJson(IMAGE) });
      const names = ["--privileged", "-v/:/host", "a b", "a\nb", "", "$(id)", "a;b", "../a", "\0"];
      const through = names.filter((image) => {
        try {
          dockerSandbox({ engine: "docker", program: engine.program, image });
          return true;
        } catch (error) {
          expect(String(error)).toContain("dockerSandbox.image must be the name of an image");
          return false;
        }
      });
      expect(existsSync(engine.calls)).toBe(false);
      return { tried: names.length, through };
    },
  );

  attempt(
    own(
      "an engine that hangs when it is asked to start a container",
      "the run ends with a message, and no process of the client is left",
    ),
    async () => {
      const answers = { info: printJson(DOCKER_INFO), image: printJson(IMAGE), ps: ":", rm: ":" };
      const engine = createStubEngine({ ...answers, run: "exec sleep 600" });
      const options = { engine: "docker", program: engine.program, startTimeoutMs: 300 } as const;
      const root = temporaryTree();
      await using container = await dockerSandbox(options).open({
        root,
        memoryBytes: 300 * MEBIBYTE,
      });
      await expect(container.python("1", LIMITS)).rejects.toThrow(
        "docker started no container within 0.3 s",
      );
      return { through: listProcesses(root) };
    },
  );
});

async function startVictim({ engine, program }: TargetEngine, root: string) {
  const script = join(import.meta.dirname, "../support/attacks/kill-target.ts");
  const image = process.env["WINK_SANDBOX_IMAGE"] ?? "python:3.13-slim";
  const child = spawn(process.execPath, [script, engine, program, image, root], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

/** Lists the clients that were started for a container's folder. */
function listClients(root: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`source=${root}`);
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);
}
