import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as DamStore from "../dam/DamStore.ts"
import * as Ids from "../data/Ids.ts"
import { type Robot, type StepFile, StepFailed, type Work } from "./Robot.ts"

const decodeOptions = Schema.decodeUnknownEffect(Schema.Struct({ path: Schema.optionalKey(Schema.NonEmptyString) }))
const decodeNames = Schema.decodeUnknownEffect(Schema.NonEmptyArray(DamAsset.Filename))

const messages: Readonly<Record<DamStore.Problem, string>> = {
  AssetNotFound: "The asset is not there.",
  FolderNotFound: "The folder is not there.",
  NameTaken: "A part of the path is taken by something else.",
  PathTooLong: "The path has more than 512 code points or 1024 bytes."
}

/** Beyond the specification: the official client defines no error code for this robot. */
const failed = (message: string) => new StepFailed({ error: "INTERNAL_COMMAND_ERROR", message })

/** The variables in a `path`, besides the fields of the Assembly. Unknown variables stay as they are. */
const variables = ({ assembly }: Work, { file }: StepFile): Readonly<Record<string, unknown>> => ({
  ...Record.mapKeys(assembly.fields, (name) => `fields.${name}`),
  "assembly.id": assembly.id,
  "file.id": file.id,
  "file.name": file.name,
  "file.basename": file["basename"],
  "file.ext": file["ext"]
})

const interpolate = (template: string, values: Readonly<Record<string, unknown>>): string =>
  template.replace(/\$\{([^{}]+)\}/g, (text, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return typeof value === "string" || typeof value === "number" ? String(value) : text
  })

const placeOf = Effect.fnUntraced(
  function* (work: Work, source: StepFile) {
    const { path = "${file.name}" } = yield* decodeOptions(work.step)
    const names = interpolate(path, variables(work, source)).replace(/^\//, "").split("/")
    const checked = yield* decodeNames(names)
    return { folders: checked.slice(0, -1), filename: checked.at(-1) ?? "" }
  },
  Effect.mapError(({ message }) => failed(`The path breaks a rule: ${message}`))
)

/**
 * `/transloadit/store`: stores each file as an asset of the Workspace at `path`, by default `${file.name}`. Missing
 * folders are created.
 */
export const make = Effect.gen(function* () {
  const dam = yield* DamStore.DamStore
  const random = yield* SecureRandom.SecureRandom

  const store = Effect.fnUntraced(
    function* (work: Work, source: StepFile, index: number) {
      const place = yield* placeOf(work, source)
      const asset = yield* dam
        .store({
          ...place,
          workspace: work.assembly.workspace,
          blob: source.blob,
          // A repeated execution has the same order of Steps and files.
          madeBy: `${work.assembly.id}/${work.name}/${index}`,
          mime: source.file.mime ?? null,
          digest: source.digest
        })
        .pipe(Effect.mapError((problem) => (typeof problem === "string" ? failed(messages[problem]) : problem)))
      const { asset_id, path, version_id, workspace, ...stored } = asset
      return {
        ...source,
        file: {
          ...source.file,
          ...stored,
          id: yield* Ids.hex,
          original_id: source.file.id ?? null,
          asset_id,
          version_id,
          workspace,
          path
        }
      }
    },
    Effect.provideService(SecureRandom.SecureRandom, random)
  )

  const robot: Robot = {
    isSlow: false,
    run: (work) => Effect.forEach(work.files, (source, index) => store(work, source, index))
  }
  return robot
})
