import { InvalidOptionError } from "../../base/errors.ts";

const refusePlan = InvalidOptionError.at("materialize(plan)");
const refuseOption = InvalidOptionError.at("materialize(options)");

/** Throws `InvalidOptionError` for a value that is not a plan of `planMounts`. Plain JavaScript callers may pass anything. */
export function checkPlan(plan: unknown): void {
  const remedy = "pass the result of planMounts()";
  if (!isObject(plan)) throw refusePlan("", plan, "must be a plan", remedy);
  for (const name of ["directories", "files", "limits"]) {
    const value = plan[name];
    if (!Array.isArray(value)) throw refusePlan(name, value, "must be an array", remedy);
  }
  const files = plan["files"] as readonly unknown[];
  const index = files.findIndex((file) => !isPlannedFile(file));
  if (index < 0) return;
  throw refusePlan(`files[${index}]`, files[index], "must be a planned file", remedy);
}

/** Throws `InvalidOptionError` for invalid options of `materialize`. */
export function checkMaterializeOptions(options: unknown): void {
  if (!isObject(options)) {
    throw refuseOption("", options, "must be an object", "omit it, or use { into, signal }");
  }
  const { into, signal } = options;
  if (into !== undefined && (typeof into !== "string" || into === "")) {
    throw refuseOption("into", into, "must be the path of a folder", "omit it for a new folder");
  }
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw refuseOption("signal", signal, "must be an AbortSignal", "pass controller.signal");
}

function isPlannedFile(file: unknown): boolean {
  if (!isObject(file)) return false;
  const { hostPath, mountPath, bytes } = file;
  return typeof hostPath === "string" && typeof mountPath === "string" && typeof bytes === "number";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
