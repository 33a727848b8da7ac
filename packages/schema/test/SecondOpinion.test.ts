/**
 * Compares our schemas with the response schemas inside `@transloadit/node`, the service's own client, for the Status,
 * an entry of the list, and a file. Our schemas must decode everything that theirs accept, without losing a field.
 *
 */
import { Assembly, AssemblyList } from "@assembly-effect/schema"
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { generator, type ZodSchema } from "./zodValues.ts"

// The package exports only its client, so the module of the schemas is found by its path.
const path = new URL("./alphalib/types/assemblyStatus.js", import.meta.resolve("@transloadit/node"))
const theirs: Readonly<Record<string, ZodSchema>> = await import(fileURLToPath(path))

type Value = Readonly<Record<string, unknown>>

const assembly_id = "0123456789abcdef0123456789abcdef"

/**
 * The rules in which our schemas are stricter, and the change that makes a value of theirs valid for ours:
 *
 * - `assembly_id` of a Status is required and has 32 hexadecimal digits. In their schema it may be any text or absent.
 *   We use it in the path of the next request. The client adds the requested id to a response without an id. The same
 *   holds for the `id` of an entry.
 */
const status = (value: Value): Value => ({ ...value, assembly_id })
const entry = (value: Value): Value => ({ ...value, id: assembly_id })
const same = (value: Value): Value => value

const cases = [
  ["Status", "assemblyStatusSchema", Assembly.Status, status],
  ["list entry", "assemblyIndexItemSchema", AssemblyList.Entry, entry],
  ["uploaded file", "assemblyStatusUploadSchema", Assembly.File, same],
  ["file of a result", "assemblyStatusResultSchema", Assembly.File, same]
] as const

describe("2,000 values of the service's own schemas", () => {
  it.each(cases)("of a %s are decoded whole", (_, name, ours, toOurs) => {
    const schema = theirs[name]
    if (schema === undefined) throw new Error(`@transloadit/node has no ${name}`)
    const decode: (value: Value) => unknown = Schema.decodeUnknownSync(ours)
    const make = generator(new Draw(1))(schema)
    for (let count = 0; count < 2000; count++) {
      const generated = make() as Value
      // Generated values are valid. Only a part of them is checked, because their schema is many times slower than
      // ours.
      if (count % 50 === 0 && !schema.safeParse(generated).success)
        assert.fail(`not a value of theirs: ${JSON.stringify(generated)}`)
      const value = toOurs(generated)
      const decoded = decode(value)
      if (!isDeepStrictEqual(decoded, value)) assert.deepStrictEqual(decoded, value)
    }
  })

  it("name the same states", () => {
    const states = [
      ["assemblyStatusBusySchema", ["Busy"]],
      ["assemblyStatusOkSchema", ["Aborted", "Busy", "Canceled", "Completed"]],
      ["assemblyStatusErrSchema", ["Failed"]],
      // An error of the operating system below the service, with neither ok nor error: not a final state.
      ["assemblyStatusSysErrSchema", ["Unknown"]]
    ] as const
    const generate = generator(new Draw(2))
    for (const [name, expected] of states) {
      const schema = theirs[name]
      if (schema === undefined) throw new Error(`@transloadit/node has no ${name}`)
      const make = generate(schema)
      const found = Array.from({ length: 200 }, () => Assembly.state(make() as Assembly.Status))
      assert.deepStrictEqual([...new Set(found)].toSorted(), [...expected])
    }
  })
})
