import { describe, expect, test } from "vitest";
import {
  type ImageGenerationConfig,
  imageGenerationTool,
} from "../../tools/hosted/image-generation.ts";
import type { WireItem } from "../wire.ts";
import { imageGenerationCodec } from "./image-generation.ts";

const tool = imageGenerationTool({}, { name: "draw" });
const serialize = (config: ImageGenerationConfig) =>
  imageGenerationCodec.serialize(imageGenerationTool(config), {
    model: "gpt-5",
    containerId: null,
  });
const parse = (...items: WireItem[]) => imageGenerationCodec.parseOutput(items, tool);
const readCalls = (...items: WireItem[]) => imageGenerationCodec.calls?.(items, tool) ?? [];

const createCall = (id: string, more: object = {}): WireItem => ({
  type: "image_generation_call",
  id,
  status: "completed",
  result: "iVBO",
  revised_prompt: "a cat",
  ...more,
});

describe("imageGenerationCodec.serialize()", () => {
  test("sends only the type for an empty config", () => {
    expect(serialize({})).toEqual({ type: "image_generation" });
  });

  test("sends all options in the API's format", () => {
    expect(
      serialize({
        action: "edit",
        model: "gpt-image-1",
        quality: "high",
        size: "1024x1536",
        outputFormat: "webp",
        outputCompression: 0,
        background: "transparent",
        inputFidelity: "high",
        inputImageMask: { fileId: "file-1" },
        moderation: "low",
        partialImages: 0,
      }),
    ).toEqual({
      type: "image_generation",
      action: "edit",
      model: "gpt-image-1",
      quality: "high",
      size: "1024x1536",
      output_format: "webp",
      output_compression: 0,
      background: "transparent",
      input_fidelity: "high",
      input_image_mask: { file_id: "file-1" },
      moderation: "low",
      partial_images: 0,
    });
  });

  test("sends a mask as an image URL", () => {
    expect(serialize({ inputImageMask: { imageUrl: "data:image/png;base64,AA" } })).toEqual({
      type: "image_generation",
      input_image_mask: { image_url: "data:image/png;base64,AA" },
    });
  });
});

describe("imageGenerationCodec.parseOutput()", () => {
  test("returns null if no image was generated", () => {
    expect(imageGenerationCodec.kind).toBe("image_generation");
    expect(parse()).toBeNull();
    expect(parse({ type: "message", content: [] })).toBeNull();
  });

  test("returns every image", () => {
    expect(
      parse(createCall("ig_1"), createCall("ig_2", { revised_prompt: null, status: "generating" })),
    ).toEqual({
      images: [
        { id: "ig_1", base64: "iVBO", revisedPrompt: "a cat", status: "completed" },
        { id: "ig_2", base64: "iVBO", revisedPrompt: null, status: "generating" },
      ],
    });
  });

  test("tolerates a call without fields", () => {
    expect(parse({ type: "image_generation_call" })).toEqual({
      images: [{ id: "", base64: "", revisedPrompt: null, status: "" }],
    });
  });
});

describe("imageGenerationCodec.calls()", () => {
  test("returns one call per item, with its image", () => {
    const item = createCall("ig_1");
    const found = readCalls(item, createCall("ig_2", { result: "AA", revised_prompt: undefined }));
    expect(found).toEqual([
      {
        name: "draw",
        kind: "image_generation",
        callId: "ig_1",
        params: { prompt: "a cat" },
        output: {
          images: [{ id: "ig_1", base64: "iVBO", revisedPrompt: "a cat", status: "completed" }],
        },
        success: true,
        message: "Generated: a cat",
        raw: item,
      },
      expect.objectContaining({
        callId: "ig_2",
        params: { prompt: "" },
        message: "Generated an image",
      }),
    ]);
    expect(found[0]?.raw).toBe(item);
    expect(Object.keys(imageGenerationCodec.params ?? {})).toEqual(["prompt"]);
  });

  test("reports success if there is an image, for any status", () => {
    expect(readCalls(createCall("ig_1", { status: "generating" }))[0]?.success).toBe(true);
    for (const result of [null, undefined, "", 5]) {
      expect(readCalls(createCall("ig_1", { result }))[0]?.success).toBe(false);
    }
  });

  test("reports the provider's error and code for failed calls", () => {
    const error = { code: "moderation_blocked", message: "Not this." };
    const failed = { status: "failed", result: null };
    expect(readCalls(createCall("ig_1", { ...failed, error }))).toEqual([
      expect.objectContaining({
        success: false,
        message: 'Failed (status "failed"): moderation_blocked: Not this.',
        output: null,
      }),
    ]);
    expect(readCalls(createCall("ig_1", failed))[0]?.message).toBe('Failed (status "failed")');
  });
});
