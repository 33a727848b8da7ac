/**
 * The Assembly Status and the params that create an Assembly.
 *
 * Beyond the specification: spec.md names the Assembly operations and shows neither their params nor the Status.
 */
import * as Schema from "effect/Schema"
import { generateFew } from "./internal/generate.ts"
import { lenient, objects, objectsByKey } from "./internal/lenient.ts"
import { type EncodedStructure, named, type Structure } from "./Named.ts"
import { renamed } from "./internal/struct.ts"
import { NonEmptyString, NonNegativeInt } from "./Scalar.ts"

/**
 * The id of an Assembly, 32 hexadecimal digits. Whoever knows it reads the status, so a client draws it from a
 * cryptographic source.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AssemblyId = Schema.String.check(
  Schema.isPattern(/^[a-f0-9]{32}$/u, { expected: "32 lowercase hexadecimal digits" })
).pipe(Schema.brand("AssemblyId"))
/**
 * @since 0.1.0
 * @category models
 */
export type AssemblyId = typeof AssemblyId.Type

const text = lenient(Schema.String)
const number = lenient(Schema.Finite)
const boolean = lenient(Schema.Boolean)

const rest = [Schema.Record(Schema.String, Schema.Json)] as const

/**
 * A file that was uploaded or that a Step made. `size` is bytes. Files of the store robot carry `asset_id`,
 * `version_id`, `workspace` and `path` (spec.md, "Assembly list entry"). `original_id` is the upload that the file was
 * made of; where a Step merged several, the list of them, with null for one that the service does not name.
 *
 * A field whose value has another form than its type is left out.
 *
 * @since 0.1.0
 * @category schemas
 */
export const File = named<File, FileEncoded>()(
  Schema.StructWithRest(
    Schema.Struct({
      id: text,
      name: text,
      field: text,
      basename: text,
      ext: text,
      type: text,
      mime: text,
      size: number,
      md5hash: text,
      sha256: text,
      url: text,
      ssl_url: text,
      original_id: lenient(Schema.Union([Schema.String, Schema.Array(Schema.NullOr(Schema.String))])),
      is_tus_file: boolean,
      tus_upload_url: text,
      thumbhash: text,
      has_alpha: boolean,
      workspace: text,
      asset_id: text,
      version_id: text,
      path: text
    }),
    rest
  )
)
/**
 * @since 0.1.0
 * @category models
 */
export interface File extends Structure<typeof File> {}
/**
 * {@link File} as it travels.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileEncoded extends EncodedStructure<typeof File> {}

/**
 * What the service knows of one tus upload. A `finished` one is the receipt that the file arrived, even when the
 * upload URL is already gone. `size` and `offset` are bytes. A field whose value has another form than its type is left
 * out: it proves nothing.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TusReceipt = named<TusReceipt, TusReceiptEncoded>()(
  Schema.StructWithRest(
    Schema.Struct({
      filename: text,
      fieldname: text,
      user_meta: Schema.optionalKey(Schema.Json),
      size: number,
      offset: number,
      finished: boolean,
      upload_url: text
    }),
    rest
  )
)
/**
 * @since 0.1.0
 * @category models
 */
export interface TusReceipt extends Structure<typeof TusReceipt> {}
/**
 * {@link TusReceipt} as it travels.
 *
 * @since 0.1.0
 * @category models
 */
export interface TusReceiptEncoded extends EncodedStructure<typeof TusReceipt> {}

/**
 * The Assembly Status, an open record. `ok` names the state of an Assembly that has not failed; `error` is the code of
 * one that has. Use {@link state} to tell them apart.
 *
 * `assembly_id`, `ok` and `error` are held to their types, since they decide. Any other field whose value has another
 * form than its type is left out, as is an element of `uploads`, `results` and `tus_uploads` that is no object: one odd
 * field does not make a Status unreadable.
 *
 * Beyond the specification. spec.md names ASSEMBLY_COMPLETED and the `results` only.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Status = named<Status>()(
  Schema.StructWithRest(
    Schema.Struct({
      ok: Schema.optionalKey(Schema.NullOr(Schema.String)),
      error: Schema.optionalKey(Schema.NullOr(Schema.String)),
      message: text,
      assembly_id: AssemblyId,
      assembly_url: text,
      assembly_ssl_url: text,
      tus_url: text,
      websocket_url: text,
      update_stream_url: text,
      bytes_expected: number,
      bytes_received: number,
      bytes_usage: number,
      start_date: text,
      execution_start: text,
      execution_duration: number,
      num_input_files: number,
      region: text,
      template_id: text,
      notify_url: text,
      expected_tus_uploads: number,
      started_tus_uploads: number,
      finished_tus_uploads: number,
      tus_uploads: lenient(objects(TusReceipt)),
      uploads: lenient(objects(File)),
      results: lenient(objectsByKey(File))
    }),
    rest
  )
)
/**
 * @since 0.1.0
 * @category models
 */
export interface Status extends Structure<typeof Status> {}

/** What a Status says of its Assembly. */
const addresses = ["assembly_url", "assembly_ssl_url"] as const

/** The id in an address such as `https://api2.example.com/assemblies/0123…`; none where it has another form. */
const idIn = (address: unknown): unknown =>
  typeof address === "string"
    ? /^[^?#]*\/assemblies\/([a-f0-9]{32})(?![a-z0-9])/i.exec(address)?.[1]?.toLowerCase()
    : undefined

/**
 * Whether a Status, decoded or as it came, says that it is of another Assembly than `assemblyId`: by its `assembly_id`
 * (`assemblyId` in older answers), or by an address of its own that names another. What does not say so is not told
 * apart: an answer without any id is no contradiction.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOfAnother = (status: Readonly<Record<string, unknown>>, assemblyId: string): boolean =>
  [status["assembly_id"], status["assemblyId"], ...addresses.map((key) => idIn(status[key]))].some(
    (id) => id !== undefined && id !== null && id !== assemblyId
  )

/**
 * Where an Assembly stands. `Busy` ones change by themselves; `Completed`, `Canceled`, `Aborted` and `Failed` ones never
 * do. `Unknown` is a Status that names no state of this list: nothing is known, so ask again.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category models
 */
export type State = "Busy" | "Completed" | "Canceled" | "Aborted" | "Failed" | "Unknown"

/** What tells a state: of a Status, and of an entry of the list. */
type Standing = Pick<Status, "ok" | "error">

/**
 * The code of the error that a Status or an entry of the list tells. An empty or null `error` is none.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category utilities
 */
export const errorCode = ({ error }: Standing): string | undefined =>
  typeof error === "string" && error !== "" ? error : undefined

/**
 * The state that a Status, or an entry of the list, tells. An `error` wins over `ok`. Without either, and with an `ok`
 * that nobody knows, the state is `Unknown`, which is no end.
 *
 * Beyond the specification.
 *
 * @example Assembly.state({ ok: "ASSEMBLY_COMPLETED" }) // "Completed"
 *
 * @since 0.1.0
 * @category utilities
 */
export const state = (standing: Standing): State => {
  if (errorCode(standing) !== undefined) return "Failed"
  switch (standing.ok) {
    case "ASSEMBLY_UPLOADING":
    case "ASSEMBLY_EXECUTING":
    case "ASSEMBLY_REPLAYING":
      return "Busy"
    case "ASSEMBLY_COMPLETED":
      return "Completed"
    case "ASSEMBLY_CANCELED":
      return "Canceled"
    case "REQUEST_ABORTED":
      return "Aborted"
    default:
      return "Unknown"
  }
}

/**
 * Whether a Status tells a definite end, so that the Assembly does not change any more.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOver = (standing: Standing): boolean => {
  const now = state(standing)
  return now !== "Busy" && now !== "Unknown"
}

/**
 * One Step: which robot works, on the results of which Steps, and the robot's own options.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Step = Schema.StructWithRest(Schema.Struct({ robot: NonEmptyString }), rest).check(generateFew(3))
/**
 * @since 0.1.0
 * @category models
 */
export type Step = typeof Step.Type

/**
 * The params that create an Assembly: its Steps or the Template that holds them, and what travels with it.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateParams = renamed(
  {
    steps: Schema.optionalKey(Schema.Record(Schema.String, Step).check(generateFew(3))),
    templateId: Schema.optionalKey(NonEmptyString),
    fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json).check(generateFew(3))),
    notifyUrl: Schema.optionalKey(NonEmptyString)
  },
  { templateId: "template_id", notifyUrl: "notify_url" }
)
/**
 * @since 0.1.0
 * @category models
 */
export type CreateParams = typeof CreateParams.Type

/**
 * The form fields beside the params. `numExpectedUploadFiles` counts the final files that will be uploaded with tus
 * (spec.md, "Create a tus upload").
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateForm = renamed(
  { numExpectedUploadFiles: Schema.optionalKey(NonNegativeInt) },
  { numExpectedUploadFiles: "num_expected_upload_files" }
)
/**
 * @since 0.1.0
 * @category models
 */
export type CreateForm = typeof CreateForm.Type
