/**
 * Opens a container, starts endless code in it, prints its folder and waits to be killed. The arguments are the engine,
 * its client, the image and the folder.
 */
import { dockerSandbox } from "../../../src/local/sandbox/docker/docker-sandbox.ts";

const [engine, program, image, root = "."] = process.argv.slice(2);
const sandbox = dockerSandbox({
  engine: engine === "podman" ? "podman" : "docker",
  program,
  image,
});
const container = await sandbox.open({ root, memoryBytes: 300 * 1024 ** 2 });
const limits = { timeoutMs: 600_000, maxOutputBytes: 1_000 };
await container.python("import subprocess\nsubprocess.Popen(['sleep', '600'])", limits);
process.stdout.write("running\n");
await container.python(
  "import signal\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass",
  limits,
);
