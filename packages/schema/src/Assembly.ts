/**
 * The Assembly Status, and the params of a request to create an Assembly.
 *
 * These schemas are beyond the specification: spec.md names the Assembly operations, but defines neither their params
 * nor the Status. Only the form field of {@link CreateForm}, and some fields of {@link Status} and {@link File}, are in
 * spec.md.
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import {
  ByteSize,
  Count,
  generateFew,
  idPattern,
  lenient,
  NonEmptyString,
  RegularExpression
} from "./unstable/Field.ts"
import * as Identifier from "./Identifier.ts"
import { extensible, named, renamed, type Structure } from "./unstable/Struct.ts"

/**
 * The id of an Assembly: 32 lowercase hexadecimal digits. Anybody who knows the id can read the Status, so a client
 * that chooses the id must generate it from a cryptographic source.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AssemblyId = Schema.String.check(
  Schema.isPattern(idPattern, { expected: "32 lowercase hexadecimal digits" })
).pipe(Schema.brand("AssemblyId"))
/**
 * @since 0.1.0
 * @category models
 */
export type AssemblyId = typeof AssemblyId.Type

/** Filters the input of a schema. `sift` removes values of the wrong type before the schema decodes the rest. */
const sifted = <S extends Schema.Codec<unknown>>(schema: S, sift: (input: unknown) => unknown) =>
  Schema.make<Schema.Codec<S["Type"], S["Encoded"]>>(
    Schema.Unknown.pipe(
      Schema.decodeTo(schema, {
        decode: SchemaGetter.transform<S["Encoded"], unknown>(sift),
        encode: SchemaGetter.passthrough<unknown>()
      })
    ).ast
  )

/** An array of objects. Elements that are not objects are left out. */
const objects = <S extends Schema.Codec<object>>(item: S) =>
  sifted(Schema.Array(item), (input) => (Array.isArray(input) ? input.filter(Predicate.isObject) : input))

/** An object of arrays of objects. Keys whose value is not an array are left out. */
const objectsByKey = <S extends Schema.Codec<object>>(item: S) =>
  sifted(Schema.Record(Schema.String, objects(item)), (input) =>
    Predicate.isObject(input)
      ? Object.fromEntries(Object.entries(input).filter(([, value]) => Array.isArray(value)))
      : input
  )

const text = lenient(Schema.String)
const number = lenient(Schema.Finite)
const boolean = lenient(Schema.Boolean)

/**
 * A file that was uploaded, or that a Step produced. `size` is in bytes. `ssl_url` is the URL of the file, and `meta`
 * has the facts that the service found in the file, such as the width of an image. A file that the robot
 * `/transloadit/store` has stored has `asset_id`, `version_id`, `workspace` and `path` (spec.md, "Assembly list
 * entry"). `original_id` is the id of the file from which this file was made. If a Step merged several files,
 * `original_id` is a list of ids, and an id in the list may be null.
 *
 * A field whose value has the wrong type is left out.
 *
 * @since 0.1.0
 * @category schemas
 */
export const File = extensible({
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
  meta: lenient(Schema.Record(Schema.String, Schema.Json)),
  thumbhash: text,
  has_alpha: boolean,
  workspace: text,
  asset_id: lenient(Identifier.AssetId),
  version_id: lenient(Identifier.VersionId),
  path: text
}).pipe(named<File, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface File extends Structure<typeof File> {}
/**
 * A receipt: what the service knows about one tus upload. A receipt with `finished: true` proves that the file has
 * arrived, even after the upload URL is gone. `size` and `offset` are in bytes. A field whose value has the wrong type
 * is left out, because such a value proves nothing.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TusReceipt = extensible({
  filename: text,
  fieldname: text,
  user_meta: Schema.optionalKey(Schema.Json),
  size: number,
  offset: number,
  finished: boolean,
  upload_url: text
}).pipe(named<TusReceipt, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface TusReceipt extends Structure<typeof TusReceipt> {}
/**
 * The Assembly Status. Unknown fields are kept. `ok` is the state of an Assembly that has not failed; `error` is the
 * error code of a failed Assembly. Use {@link state} to determine the state.
 *
 * `assembly_id` identifies the Assembly, and `ok` and `error` determine the state, so a value of the wrong type in
 * these fields is an error. Any other known field whose value has the wrong type is left out. Elements that are not
 * objects are left out of `uploads`, `tus_uploads` and the arrays in `results`. Thus a malformed value in
 * any field except `assembly_id`, `ok` and `error` does not make a Status unreadable.
 *
 * The Status is beyond the specification, which describes only ASSEMBLY_COMPLETED, `results`, `assembly_ssl_url` and
 * `tus_url`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Status = extensible({
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
  fields: lenient(Schema.Record(Schema.String, Schema.Json)),
  expected_tus_uploads: number,
  started_tus_uploads: number,
  finished_tus_uploads: number,
  tus_uploads: lenient(objects(TusReceipt)),
  uploads: lenient(objects(File)),
  results: lenient(objectsByKey(File))
}).pipe(named<Status>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Status extends Structure<typeof Status> {}

/**
 * The state of an Assembly. A `Busy` Assembly will change; `Completed`, `Canceled`, `Aborted` and `Failed` are final.
 * `Unknown` means that the Status contains no known state: request the Status again.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category models
 */
export type State = "Busy" | "Completed" | "Canceled" | "Aborted" | "Failed" | "Unknown"

/** The fields of a Status, or of a list entry, that determine the state. */
type Standing = Pick<Status, "ok" | "error">

/**
 * The error code in a Status or a list entry. An empty or null `error` counts as no error.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category utilities
 */
export const errorCode = ({ error }: Standing): string | undefined =>
  typeof error === "string" && error !== "" ? error : undefined

const states: ReadonlyMap<unknown, State> = new Map([
  ["ASSEMBLY_UPLOADING", "Busy"],
  ["ASSEMBLY_EXECUTING", "Busy"],
  ["ASSEMBLY_REPLAYING", "Busy"],
  ["ASSEMBLY_COMPLETED", "Completed"],
  ["ASSEMBLY_CANCELED", "Canceled"],
  ["REQUEST_ABORTED", "Aborted"]
])

/**
 * The state in a Status or a list entry. `error` takes precedence over `ok`. With no error code and no known `ok`, the
 * state is `Unknown`, which is not final.
 *
 * Beyond the specification.
 *
 * @example Assembly.state({ ok: "ASSEMBLY_COMPLETED" }) // "Completed"
 *
 * @since 0.1.0
 * @category utilities
 */
export const state = (standing: Standing): State =>
  errorCode(standing) === undefined ? (states.get(standing.ok) ?? "Unknown") : "Failed"

/**
 * Whether the state is final. An Assembly in a final state no longer changes.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOver = (standing: Standing): boolean => !["Busy", "Unknown"].includes(state(standing))

/**
 * One Step: its robot, the Steps whose results it uses, and the options of the robot.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Step = extensible({ robot: NonEmptyString }).check(generateFew(3))
/**
 * @since 0.1.0
 * @category models
 */
export type Step = typeof Step.Type

/**
 * A part of the Status that a notification can omit.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const NotificationPayload = Schema.Literals([
  "without_params",
  "without_results",
  "without_result_meta_data",
  "without_uploads",
  "without_upload_meta_data"
])
/**
 * @since 0.1.0
 * @category models
 */
export type NotificationPayload = typeof NotificationPayload.Type

/**
 * The params of a request to create an Assembly: its Steps, the id of a Template, or both, and further settings. If
 * both are present, `steps` changes the Steps of the Template. Params without both are valid: the service decides what
 * such an Assembly does (in the emulator, it only receives files).
 *
 * - `fields`: the values of variables in the Steps.
 * - `notifyUrl`: the URL to which the service sends the Status when the Assembly has ended.
 * - `notificationPayload`: the parts of the Status that this notification omits.
 * - `redirectUrl`: the URL to which the service sends the browser that created the Assembly.
 * - `quiet`: whether the response has only the id and the state of the Assembly. Such a response has no `tus_url`, so no
 *   file can be uploaded with tus.
 * - `emitExecutionProgress`: whether the update stream reports the progress of the execution.
 * - `auth`: the restrictions of the uploads: `maxSize`, the maximum size of an upload in bytes, and `referer`, a regular
 *   expression that the HTTP referer must match, if the request has one (spec.md, "Limits" and "Retrieve list of
 *   Assemblies").
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateParams = renamed({
  steps: Schema.optionalKey(Schema.Record(Schema.String, Step).check(generateFew(3))),
  templateId: Schema.optionalKey(NonEmptyString),
  fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json).check(generateFew(3))),
  notifyUrl: Schema.optionalKey(NonEmptyString),
  notificationPayload: Schema.optionalKey(Schema.Array(NotificationPayload).check(generateFew(3))),
  redirectUrl: Schema.optionalKey(NonEmptyString),
  quiet: Schema.optionalKey(Schema.Boolean),
  emitExecutionProgress: Schema.optionalKey(Schema.Boolean),
  auth: Schema.optionalKey(
    renamed({ maxSize: Schema.optionalKey(ByteSize), referer: Schema.optionalKey(RegularExpression) })
  )
})
/**
 * @since 0.1.0
 * @category models
 */
export type CreateParams = typeof CreateParams.Type

/**
 * The form fields of a request to create an Assembly, besides `params` and `signature`.
 * `numExpectedUploadFiles` is the number of files that will be uploaded with tus, without counting the parts of a file
 * (spec.md, "Create a tus upload").
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateForm = renamed({ numExpectedUploadFiles: Schema.optionalKey(Count) })
/**
 * @since 0.1.0
 * @category models
 */
export type CreateForm = typeof CreateForm.Type
