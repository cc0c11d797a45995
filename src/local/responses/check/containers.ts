import {
  anything,
  byType,
  either,
  list,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../../validators/shapes.ts";

const type = anything; // it chose the shape

/** How much memory a container may have. */
export const memoryLimit: Shape = maybe(oneOf("1g", "4g", "16g", "64g"));

/** Files to copy into a new container. */
export const fileIds: Shape = list(text({ min: 1 }), { max: 50 });

/** Where a container's programs may go. */
export const networkPolicy: Shape = byType({
  disabled: object({ type }),
  allowlist: object(
    { type, allowed_domains: list(text({ min: 1 }), { min: 1 }) },
    { domain_secrets: list(object({ domain: text(), name: text(), value: text() })) },
  ),
});

/** Skills to mount into a new container. */
export const containerSkills: Shape = list(
  byType({
    skill_reference: object({ type, skill_id: text({ min: 1 }) }, { version: text() }),
    inline: object({
      type,
      name: text(),
      description: text(),
      source: object({
        type: oneOf("base64"),
        media_type: oneOf("application/zip"),
        data: text({ max: 70_254_592 }),
      }),
    }),
  }),
  { max: 200 },
);

const made = { file_ids: fileIds, memory_limit: memoryLimit, network_policy: networkPolicy };

/** `container` of `code_interpreter`: an id, or how to make one. */
export const codeContainer: Shape = either({
  string: text({ min: 1 }),
  object: byType({ auto: object({ type }, made) }),
});

const localSkills = list(object({ name: text(), description: text(), path: text() }), { max: 200 });

const reference = object({ type, container_id: text({ min: 1 }) });
const local = object({ type }, { skills: localSkills });

/** `environment` of `shell`. */
export const shellEnvironment: Shape = byType({
  container_auto: object({ type }, { ...made, skills: containerSkills }),
  container_reference: reference,
  local,
});

/** `environment` of a `shell_call`: where it ran. */
export const callEnvironment: Shape = byType({ local, container_reference: reference });
