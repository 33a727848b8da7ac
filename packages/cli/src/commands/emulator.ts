import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Output from "../Output.ts"

/** The emulator has not started. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  port: Schema.Int,
  problem: Schema.String
}) {
  override get message() {
    return `cannot listen on port ${this.port}: ${this.problem}`
  }
}

/** The file of `--templates` holds no Templates. */
export class CannotReadTemplates extends Schema.TaggedError<CannotReadTemplates>()("CannotReadTemplates", {
  path: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.problem}`
  }
}

/** Loaded when it is asked for: no other command should wait for a server and a database. */
const load = Effect.promise(() => import("@assembly-effect/emulator/Emulator"))

/** A list of Templates in JSON. */
const readTemplates = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { Template } = yield* Effect.promise(() => import("@assembly-effect/emulator/Template"))
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Template)))
  return yield* Effect.mapError(
    Effect.flatMap(fs.readFileString(path), decode),
    ({ message }) => new CannotReadTemplates({ path, problem: message })
  )
})

/** `assembly emulator`: runs the service on this machine until it is interrupted. */
export const emulator = Command.make(
  "emulator",
  {
    port: Flag.Int("port").pipe(
      Flag.withDescription("The port to listen on; a free one by default"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))),
      Flag.withDefault(0)
    ),
    data: Flag.Directory("data").pipe(
      Flag.withDescription("The folder that keeps Assemblies and files; without one they are gone at the end"),
      Flag.optional
    ),
    seed: Flag.String("seed").pipe(
      Flag.withDescription("Ids are the same with every run of the same seed; Auth Keys and secrets are not"),
      Flag.optional
    ),
    templates: Flag.File("templates").pipe(
      Flag.withDescription("A JSON file with Templates, a list of objects with id, name and content"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ data, port, seed, ...files }) {
    const templates = Option.isSome(files.templates) ? yield* readTemplates(files.templates.value) : []
    const { Emulator, layer } = yield* load
    const run = Effect.gen(function* () {
      const { baseUrl, credentials } = yield* Emulator
      yield* Output.lines([
        `export ASSEMBLY_BASE_URL=${baseUrl}`,
        `export ASSEMBLY_AUTH_KEY=${credentials.key}`,
        `export ASSEMBLY_AUTH_SECRET=${Redacted.value(credentials.secret)}`,
        "# Running; Ctrl+C ends it."
      ])
      return yield* Effect.never
    })
    return yield* Effect.provide(
      run,
      layer({ port, data: Option.getOrUndefined(data), seed: Option.getOrUndefined(seed), templates })
    ).pipe(
      Effect.catchTag("ServeError", ({ cause }) =>
        Effect.fail(new CannotListen({ port, problem: cause instanceof Error ? cause.message : "the server failed" }))
      )
    )
  })
).pipe(Command.withDescription("Run the service on this machine, to develop and test against"))
