import {
  parseJson,
  readRecord,
  readString,
  readStrings,
  type UnknownRecord,
} from "../../../base/json.ts";
import {
  callEngine,
  type EngineClient,
  type EngineName,
  explainEngineProblem,
} from "./call-engine.ts";

/** A container engine's report about itself. */
export interface EngineInfo {
  /** The engine that answers. The client `docker` can be a front end of Podman. */
  readonly engine: EngineName;
  /** Whether it runs without root: a container that breaks out is then only the current user. */
  readonly rootless: boolean;
  /** Whether SELinux confines containers, so that a folder needs a label to be visible in one. */
  readonly selinux: boolean;
}

/** Asks the engine about itself, or explains why it does not answer. */
export async function readEngineInfo(client: EngineClient): Promise<EngineInfo | string> {
  const answer = await callEngine(client, ["info", "--format", "{{json .}}"]);
  if (answer.problem !== null) return answer.problem;
  const parsed = parseJson(answer.stdout);
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null) {
    return `${client.program} info printed no JSON: update ${client.engine}`;
  }
  return parseEngineInfo(client, { ...parsed.value });
}

function parseEngineInfo(client: EngineClient, info: UnknownRecord): EngineInfo | string {
  const host = readRecord(info, "host");
  if (readString(host, "os") === "linux") {
    const security = readRecord(host, "security");
    return {
      engine: "podman",
      rootless: security["rootless"] === true,
      selinux: security["selinuxEnabled"] === true,
    };
  }
  const [error] = readStrings(info, "ServerErrors");
  if (error !== undefined) return explainEngineProblem(client, error);
  if (readString(info, "OSType") !== "linux") {
    return `${client.program} does not run Linux containers: switch it to Linux containers`;
  }
  const security = readStrings(info, "SecurityOptions").map((option) => option.split(",")[0]);
  return {
    engine: "docker",
    rootless: security.includes("name=rootless"),
    selinux: security.includes("name=selinux"),
  };
}
