import { expect, test } from "vitest";
import { scriptedModel } from "../../src/local/models/scripted-model.ts";
import { LocalProvider } from "../../src/local/provider.ts";
import { hostSandbox } from "../support/host-sandbox.ts";

const at = "http://local/v1";
const limits = {
  ...({ memory: "watched", processes: "enforced", disk: "watched" } as const),
  means: "rlimits",
};

function createProvider(require?: "enforced" | "watched") {
  const probe = async () => ({ usable: true, reason: "works", limits });
  return new LocalProvider({
    model: scriptedModel([]),
    sandbox: { ...hostSandbox(), probe },
    limits: { require },
    onFault: () => {},
  });
}

test("responses name the sandbox and how its limits hold once it was chosen", async () => {
  await using provider = createProvider();
  const before = await provider.fetch(`${at}/models`);
  expect(before.headers.has("x-wink-sandbox")).toBe(false);
  const { limits: report, name } = await provider.sandbox();
  expect(name).toBe("host");
  expect(report).toMatchObject({ memory: "watched", processes: "enforced" });
  const after = await provider.fetch(`${at}/models`);
  expect(after.headers.get("x-wink-sandbox")).toBe(
    `host; memory=watched; processes=enforced; disk=${report.disk}`,
  );
});

test("limits.require refuses limits that are only watched before anything is served", async () => {
  await using provider = createProvider("enforced");
  await expect(provider.listen()).rejects.toThrow(/^limits\.require needs .* memory .*rlimits/);
  await expect(provider.fetch(`${at}/models`)).rejects.toThrow("limits.require");
});

test("a provider warns once that limits are only watched", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on("warning", listen);
  await using provider = createProvider();
  await provider.sandbox();
  await provider.sandbox({ trial: false });
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("warning", listen);
  expect(warnings.filter((warning) => warning.includes("watched"))).toEqual([
    expect.stringMatching(/^WinkWarning: The limits on memory.* of the host sandbox are watched, /),
  ]);
});
