// Compiled, never run: the options of known robots have types, and unknown robots are not locked out.
import * as Instructions from "@assembly-effect/schema/Instructions"

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
