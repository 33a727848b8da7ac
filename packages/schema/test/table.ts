// Every schema that travels, by name, for the property tests.
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { Schema } from "effect"
import { readdirSync } from "node:fs"

type Codec = Schema.ConstraintCodec<unknown, unknown>

const isCodec = (value: unknown): value is Codec => Schema.isSchema(value)

/** The modules of resources. Those of parts, such as `Field`, have values that only their own tests know. */
const names = readdirSync(new URL("../src", import.meta.url))
  .filter((name) => /^[A-Z]/.test(name) && name !== "InvalidRequest.ts")
  .map((name) => name.slice(0, -".ts".length))

const modules: ReadonlyArray<readonly [name: string, module: object]> = [
  ...(await Promise.all(
    names.map(async (name): Promise<readonly [string, object]> => [name, await import(`../src/${name}.ts`)])
  )),
  ["Auth", Auth],
  ["TusUpload", TusUpload]
]

/** Everything that round-trips. */
export const schemas: ReadonlyArray<readonly [name: string, schema: Codec]> = modules.flatMap(([module, exported]) =>
  Object.entries(exported).flatMap(([name, value]: [string, unknown]) =>
    isCodec(value) ? [[`${module}.${name}`, value] as const] : []
  )
)

const request =
  /(?:Request|Query|Params|Form|Concat|Month|IdOrName|(?:Fixed|Deferred|Final|Append)Headers|d\.Metadata|e\.Content|\.(?:Assembly|Asset|AuthKey|Credential)Id)$/

/** Requests, headers of requests, and ids in paths. */
export const requests = schemas.filter(([name]) => request.test(name))

const response =
  /(?:\.Statistics|Bucket|ErrorTotal|\.Asset|\.Moved|d\.Created|CreatedStrict|ErrorHeadersStrict|Appended|OffsetHeaders)$/

/** Responses whose rules the specification names. */
export const responses = schemas.filter(([name]) => response.test(name))
