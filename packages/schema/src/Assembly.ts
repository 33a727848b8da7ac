/**
 * The Assembly Status and the params that create an Assembly.
 *
 * Beyond the specification: spec.md names the Assembly operations and shows neither their params nor the Status.
 */
import * as Schema from "effect/Schema"
import { generateFew } from "./internal/generate.ts"
import { renamed } from "./internal/struct.ts"
import { NonEmptyString, NonNegativeInt } from "./Scalar.ts"

/**
 * The id of an Assembly, 32 hexadecimal digits. Whoever knows it reads the status, so a client draws it from a
 * cryptographic source.
 *
 * Beyond the specification.
 */
export const AssemblyId = Schema.String.check(
  Schema.isPattern(/^[a-f0-9]{32}$/u, { expected: "32 lowercase hexadecimal digits" })
).pipe(Schema.brand("AssemblyId"))
export type AssemblyId = typeof AssemblyId.Type

const text = Schema.optionalKey(Schema.NullOr(Schema.String))
const number = Schema.optionalKey(Schema.NullOr(Schema.Finite))
const boolean = Schema.optionalKey(Schema.NullOr(Schema.Boolean))

const rest = [Schema.Record(Schema.String, Schema.Json)] as const

/**
 * A file that was uploaded or that a Step made. `size` is bytes. Files of the store robot carry `asset_id`,
 * `version_id`, `workspace` and `path` (spec.md, "Assembly list entry").
 */
export const File = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.optionalKey(Schema.String),
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
    original_id: text,
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
export type File = typeof File.Type

/**
 * What the service knows of one tus upload. A `finished` one is the receipt that the file arrived, even when the
 * upload URL is already gone. `size` and `offset` are bytes.
 *
 * Beyond the specification.
 */
export const TusReceipt = Schema.StructWithRest(
  Schema.Struct({
    filename: text,
    fieldname: text,
    user_meta: Schema.optionalKey(Schema.Json),
    size: number,
    offset: number,
    finished: Schema.optionalKey(Schema.Boolean),
    upload_url: text
  }),
  rest
)
export type TusReceipt = typeof TusReceipt.Type

/**
 * The Assembly Status, an open record. `ok` names the state of an Assembly that has not failed; `error` without `ok`
 * is the code of one that has. Use {@link state} to tell them apart.
 *
 * Beyond the specification. spec.md names ASSEMBLY_COMPLETED and the `results` only.
 */
export const Status = Schema.StructWithRest(
  Schema.Struct({
    ok: text,
    error: text,
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
    tus_uploads: Schema.optionalKey(Schema.NullOr(Schema.Array(TusReceipt))),
    uploads: Schema.optionalKey(Schema.NullOr(Schema.Array(File))),
    results: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Array(File))))
  }),
  rest
)
export type Status = typeof Status.Type

/**
 * Where an Assembly stands. `Busy` ones change by themselves, the others never do.
 *
 * Beyond the specification.
 */
export type State = "Busy" | "Completed" | "Canceled" | "Aborted" | "Failed"

/**
 * The state that a Status tells. A status with `error`, or with an `ok` that nobody knows, has failed.
 *
 * Beyond the specification.
 */
export const state = (status: Status): State => {
  switch (status.ok) {
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
      return "Failed"
  }
}

/**
 * One Step: which robot works, on the results of which Steps, and the robot's own options.
 *
 * Beyond the specification.
 */
export const Step = Schema.StructWithRest(Schema.Struct({ robot: NonEmptyString }), rest).check(generateFew(3))
export type Step = typeof Step.Type

/**
 * The params that create an Assembly: its Steps or the Template that holds them, and what travels with it.
 *
 * Beyond the specification.
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
export type CreateParams = typeof CreateParams.Type

/**
 * The form fields beside the params. `numExpectedUploadFiles` counts the final files that will be uploaded with tus
 * (spec.md, "Create a tus upload").
 */
export const CreateForm = renamed(
  { numExpectedUploadFiles: Schema.optionalKey(NonNegativeInt) },
  { numExpectedUploadFiles: "num_expected_upload_files" }
)
export type CreateForm = typeof CreateForm.Type
