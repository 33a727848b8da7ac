// Compiled, never run: the options of known robots have types, and unknown robots are not locked out.
import { type Assembly, Instructions } from "@assembly-effect/schema"
import type * as Robots from "@transloadit/types/robots"
import type { Result } from "effect"

export const known = Instructions.make({
  ":original": { robot: "/upload/handle" },
  stored: { robot: "/transloadit/store", use: ":original", path: "a/${file.name}" },
  hashed: { robot: "/file/hash", use: { steps: ["stored"] }, algorithm: "${fields.algorithm}" },
  unknown: { robot: "/image/resize", use: [{ name: "stored", as: "base" }], width: 100, nested: { deep: [1] } }
})

// @ts-expect-error an algorithm that the robot does not have
export const hash = Instructions.make({ a: { robot: "/file/hash", algorithm: "crc" } })
// @ts-expect-error a path is text
export const store = Instructions.make({ a: { robot: "/transloadit/store", path: 5 } })
// @ts-expect-error the wait needs its seconds
export const wait = Instructions.make({ a: { robot: "/emulator/wait" } })
// @ts-expect-error a Step has a robot
export const none = Instructions.make({ a: { use: ":original" } })
// @ts-expect-error a form of use that does not exist
export const use = Instructions.make({ a: { robot: "/image/resize", use: 5 } })

/** A union of the robots of another package, as an application lists them. */
type Catalogue =
  | Robots.InterpolatableRobotImageResizeInstructionsInput
  | Robots.InterpolatableRobotVideoEncodeInstructionsInput
  | Robots.InterpolatableRobotUploadHandleInstructionsInput
const make = Instructions.of<Catalogue>()

export const typed = make({
  ":original": { robot: "/upload/handle" },
  resized: { robot: "/image/resize", use: ":original", width: 100, resize_strategy: "fit" },
  encoded: { robot: "/video/encode", use: { steps: ["resized"] }, preset: "ipad-high" }
})
/** The Steps are those of a request. */
export const steps: Result.Result<Assembly.CreateParams["steps"], unknown> = typed

// @ts-expect-error a strategy is text
export const strategy = make({ a: { robot: "/image/resize", use: ":original", resize_strategy: 5 } })
// @ts-expect-error an option that the robot does not have
export const option = make({ a: { robot: "/image/resize", use: ":original", resizeStrategy: "fit" } })
// @ts-expect-error a robot that is not in the catalogue
export const robot = make({ a: { robot: "/image/risize", use: ":original" } })
