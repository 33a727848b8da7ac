// Every schema that travels, by name, for the property tests.
import * as Testing from "@assembly-effect/schema/testing"
import * as Schema from "effect/Schema"
import { readdirSync } from "node:fs"

type Codec = Schema.ConstraintCodec<unknown, unknown>

const isCodec = (value: unknown): value is Codec => Schema.isSchema(value)

/** The modules of resources. Those of parts, such as `Scalar`, have values that only their own tests know. */
const names = readdirSync(new URL("../src", import.meta.url))
  .filter((name) => /^[A-Z]/.test(name) && !/^(?:InvalidRequest|Scalar|SecureUrl|Timestamp)\.ts$/.test(name))
  .map((name) => name.slice(0, -".ts".length))

const modules = await Promise.all(
  names.map(async (name): Promise<readonly [string, object]> => [name, await import(`../src/${name}.ts`)])
)

/** Everything that round-trips. */
export const schemas: ReadonlyArray<readonly [name: string, schema: Codec]> = modules.flatMap(([module, exported]) =>
  Object.entries(exported).flatMap(([name, value]: [string, unknown]) =>
    isCodec(value) ? [[`${module}.${name}`, value] as const] : []
  )
)

/** The requests, which have rules. */
export const requests = schemas.filter(([, schema]) => Testing.schemas.includes(schema))
