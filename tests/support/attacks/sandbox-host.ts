/**
 * Opens a sandbox in a separate process, which `openAsUser` starts as another user, and runs the requests from
 * Node's IPC channel. Imports only the modules named in a request, so that it runs from a copy of `src`.
 */
import type {
  Sandbox,
  SandboxOptions,
  SandboxProcess,
} from "../../../src/local/sandbox/sandbox.ts";
import type { HostRequest, SandboxFactory } from "./open-as-user.ts";

let container: SandboxProcess | undefined;

process.on("message", (request: HostRequest) => {
  obey(request).then(
    (result) => process.send?.({ id: request.id, result }),
    (error: unknown) => process.send?.({ id: request.id, problem: String(error) }),
  );
});
// The tests have ended.
process.on("disconnect", () => process.exit());

async function obey(request: HostRequest): Promise<unknown> {
  if (request.op === "open") {
    container = await open(request.factory, request.options);
    return undefined;
  }
  if (container === undefined) throw new Error("The sandbox is not open.");
  if (request.op === "dispose") return await container[Symbol.asyncDispose]();
  return await container[request.op](request.text, request.limits);
}

async function open(factory: SandboxFactory, options: SandboxOptions): Promise<SandboxProcess> {
  const module: Record<string, (options: unknown) => Sandbox> = await import(factory.module);
  const create = module[factory.name];
  if (create === undefined) throw new Error(`${factory.module} has no ${factory.name}.`);
  return await create(factory.options).open(options);
}
