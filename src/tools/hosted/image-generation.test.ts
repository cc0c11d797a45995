import { describe, expect, test } from "vitest";
import { type ImageGenerationConfig, imageGenerationTool } from "./image-generation.ts";

const make = (config: unknown): unknown => Reflect.apply(imageGenerationTool, undefined, [config]);
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });

const createConfig = (): ImageGenerationConfig => ({
  action: "edit",
  model: "gpt-image-2",
  quality: "high",
  size: "1536x864",
  outputFormat: "webp",
  outputCompression: 80,
  background: "transparent",
  inputFidelity: "high",
  inputImageMask: { fileId: "file-1" },
  moderation: "low",
  partialImages: 2,
});

describe("imageGenerationTool()", () => {
  test("works without a config", () => {
    expect(imageGenerationTool()).toMatchObject({
      kind: "image_generation",
      name: "image_generation",
      config: {},
    });
  });

  test("accepts another name", () => {
    expect(imageGenerationTool({}, { name: "draw" }).name).toBe("draw");
  });

  test("freezes a copy of its config", () => {
    const config = createConfig();
    const { config: kept } = imageGenerationTool(config);
    expect(kept).toEqual(config);
    expect(Object.isFrozen(kept)).toBe(true);
    expect(Object.isFrozen(kept.inputImageMask)).toBe(true);
    expect(config).toEqual(createConfig());
    expect(Object.isFrozen(config)).toBe(false);
    expect(Object.isFrozen(config.inputImageMask)).toBe(false);
  });
});

test.each<ImageGenerationConfig>([
  {},
  createConfig(),
  { action: undefined, model: undefined, size: undefined, inputImageMask: undefined },
  { action: "generate", size: "auto", quality: "auto", background: "auto" },
  { action: "auto", size: "1024x1024", quality: "low", background: "opaque", moderation: "auto" },
  { outputCompression: 0, partialImages: 0 },
  { outputCompression: 100, partialImages: 3 },
  { inputImageMask: { imageUrl: "data:image/png;base64,AAAA" }, inputFidelity: "low" },
])("imageGenerationTool() accepts %j", (config) => {
  expect(() => imageGenerationTool(config)).not.toThrow();
});

test.each(["png", "webp", "jpeg", "gif", "svg"] as const)(
  "imageGenerationTool() accepts the format %j",
  (outputFormat) => {
    expect(() => imageGenerationTool({ outputFormat })).not.toThrow();
  },
);

test.each([
  [null, "", null],
  [{ format: "png" }, " key", "format"],
  [{ action: "draw" }, ".action", "draw"],
  [{ model: " " }, ".model", " "],
  [{ quality: "hd" }, ".quality", "hd"],
  [{ size: "1024" }, ".size", "1024"],
  [{ size: "0x10" }, ".size", "0x10"],
  [{ size: "1024 x 1024" }, ".size", "1024 x 1024"],
  [{ size: 1024 }, ".size", 1024],
  [{ outputFormat: "bmp" }, ".outputFormat", "bmp"],
  [{ outputCompression: -1 }, ".outputCompression", -1],
  [{ outputCompression: 101 }, ".outputCompression", 101],
  [{ outputCompression: 0.5 }, ".outputCompression", 0.5],
  [{ background: "white" }, ".background", "white"],
  [{ inputFidelity: "medium" }, ".inputFidelity", "medium"],
  [{ inputImageMask: "file-1" }, ".inputImageMask", "file-1"],
  [{ inputImageMask: {} }, ".inputImageMask.fileId", undefined],
  [{ inputImageMask: { imageUrl: "" } }, ".inputImageMask.imageUrl", ""],
  [{ inputImageMask: { imageUrl: "x", fileId: "y" } }, ".inputImageMask key", "fileId"],
  [{ moderation: "off" }, ".moderation", "off"],
  [{ partialImages: 4 }, ".partialImages", 4],
  [{ partialImages: -1 }, ".partialImages", -1],
])("imageGenerationTool() rejects %j at %j", (config, place, value) => {
  expect(() => make(config)).toThrow(
    matchError({ field: `imageGenerationTool(config)${place}`, value }),
  );
});
