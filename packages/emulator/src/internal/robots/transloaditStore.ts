import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as DamStore from "../dam/damStore.ts"
import * as Ids from "../data/ids.ts"
import * as Origin from "../http/origin.ts"
import { type Robot, type StepFile, StepFailed, type Work } from "./robot.ts"

const decodeOptions = Schema.decodeUnknownEffect(Schema.Struct({ path: Schema.optionalKey(Schema.NonEmptyString) }))
const decodeNames = Schema.decodeUnknownEffect(Schema.NonEmptyArray(DamAsset.Filename))

const pathTooLong = "The path has more than 512 code points or 1024 bytes."
const nameTaken = "A folder has the path of the file, or an asset has the path of a folder."

/** Fails with a general error code, because the official client defines no error code for this robot. */
const failed = (message: string) => new StepFailed({ error: "INTERNAL_COMMAND_ERROR", message })

/**
 * The maximum number of characters of a `path`, before and after its variables are replaced. This maximum is higher
 * than the limit for the path of an asset, because that limit applies after the normalization to NFC, which combines up
 * to 4 characters into one.
 */
const maxPath = 4 * 1024

type Value = (name: string) => unknown

/** Returns a function that returns the value of the variable with a name, or undefined for an unknown variable. */
const valuesOf = ({ assembly }: Work, { file }: StepFile): Value => {
  const known: Readonly<Record<string, unknown>> = {
    "assembly.id": assembly.id,
    "file.id": file.id,
    "file.name": file.name,
    "file.basename": file["basename"],
    "file.ext": file["ext"]
  }
  return (name) => {
    const [values, key] = name.startsWith("fields.") ? [assembly.fields, name.slice("fields.".length)] : [known, name]
    return Object.hasOwn(values, key) ? values[key] : undefined
  }
}

/**
 * Replaces the variables in a path. An unknown variable stays unchanged. Returns undefined if the path is too long. The
 * length of a value is checked before the value is copied.
 */
const interpolate = (template: string, valueOf: Value): string | undefined => {
  if (template.length > maxPath) return undefined
  let path = ""
  let end = 0
  const append = (piece: string): boolean => {
    if (path.length + piece.length > maxPath) return false
    path += piece
    return true
  }
  for (const { 0: text, 1: name = "", index } of template.matchAll(/\$\{([^{}]+)\}/g)) {
    const value = valueOf(name)
    const piece = typeof value === "string" || typeof value === "number" ? String(value) : text
    if (!append(template.slice(end, index)) || !append(piece)) return undefined
    end = index + text.length
  }
  return append(template.slice(end)) ? path : undefined
}

const breaksRule = ({ message }: Schema.SchemaError) => failed(`The path is invalid: ${message}`)

const placeOf = Effect.fnUntraced(function* (work: Work, source: StepFile) {
  const { path: template = "${file.name}" } = yield* Effect.mapError(decodeOptions(work.step), breaksRule)
  const path = interpolate(template, valuesOf(work, source))
  if (path === undefined) return yield* failed(pathTooLong)
  const checked = yield* Effect.mapError(decodeNames(path.replace(/^\//, "").split("/")), breaksRule)
  return { folders: checked.slice(0, -1), filename: checked.at(-1) ?? "" }
})

/**
 * `/transloadit/store`: stores each file as an asset of the Workspace at `path`, by default `${file.name}`. Missing
 * folders are created. The URL of the result is the URL of the stored version.
 */
export const make = Effect.gen(function* () {
  const dam = yield* DamStore.make
  const newId = yield* Ids.hex
  const origin = yield* Origin.Origin

  const store = Effect.fnUntraced(function* (work: Work, source: StepFile, index: number) {
    const place = yield* placeOf(work, source)
    const asset = yield* dam
      .store({
        ...place,
        workspace: work.assembly.workspace,
        blob: source.blob,
        // The id stays the same if the Step runs again, because the files then have the same order.
        madeBy: `${work.assembly.id}/${work.name}/${index}`,
        mime: source.file.mime ?? null,
        digest: source.digest
      })
      .pipe(
        Effect.catchTag("Refusal", ({ code }) =>
          Effect.fail(failed(code === "DAM_MUTATION_CONFLICT" ? nameTaken : pathTooLong))
        )
      )
    const { asset_id, path, version_id, workspace, ...stored } = asset
    const url = origin.resultUrl(version_id, place.filename)
    return {
      ...source,
      file: {
        ...source.file,
        ...stored,
        id: yield* newId,
        original_id: source.file.id ?? null,
        url,
        ssl_url: url,
        asset_id,
        version_id,
        workspace,
        path
      }
    }
  })

  const robot: Robot = {
    isSlow: false,
    // `yieldNow` lets other requests run between two files.
    run: (work) =>
      Effect.forEach(work.files, (source, index) => Effect.andThen(Effect.yieldNow, store(work, source, index)))
  }
  return robot
})
