import {
  parseJson,
  readRecord,
  readRecords,
  readString,
  type UnknownRecord,
} from "../../../base/json.ts";
import { callEngine, type EngineClient } from "./call-engine.ts";

/** An image that is present on the engine. */
export interface FoundImage {
  /** Its content's digest. Containers are started from it, so a tag that moves later changes nothing. */
  readonly id: string;
  /** Its processor architecture, in Node's words where Node has one. */
  readonly arch: string;
}

/** Finds an image on the engine, or explains why it cannot be used. It never pulls: that needs a network. */
export async function findImage(client: EngineClient, name: string): Promise<FoundImage | string> {
  const answer = await callEngine(client, ["image", "inspect", name]);
  if (answer.problem !== null) {
    const missing = /no such image|image not known|not found/i.test(answer.problem);
    return missing ? `the image ${name} is missing: ${client.engine} pull ${name}` : answer.problem;
  }
  const parsed = parseJson(answer.stdout);
  const [image] = parsed.ok ? readRecords({ images: parsed.value }, "images") : [];
  if (image === undefined) {
    return `${client.program} image inspect printed no JSON: update ${client.engine}`;
  }
  return checkImage(name, image);
}

function checkImage(name: string, image: UnknownRecord): FoundImage | string {
  const [volume] = Object.keys(readRecord(readRecord(image, "Config"), "Volumes"));
  if (volume !== undefined) {
    return `the image ${name} declares the volume ${volume}, which has no size limit: use an image without volumes`;
  }
  if (readString(image, "Os") !== "linux") {
    return `the image ${name} is not for Linux: use one such as ${DEFAULT_IMAGE}`;
  }
  const arch = readString(image, "Architecture");
  return { id: readString(image, "Id"), arch: NODE_NAMES.get(arch) ?? arch };
}

/** The image if none is named: Python and a shell, published by Docker. */
export const DEFAULT_IMAGE = "python:3.13-slim";

const NODE_NAMES: ReadonlyMap<string, string> = new Map([
  ["amd64", "x64"],
  ["arm64", "arm64"],
]);
