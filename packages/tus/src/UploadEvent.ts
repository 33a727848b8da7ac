/**
 * What happens during an upload. All numbers are bytes.
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type { UploadUrl } from "./UploadTarget.ts"

/**
 * - `Created`: the server has made the upload.
 * - `Progress`: `sent` bytes have left, `acknowledged` ones are stored for good.
 * - `Retrying`: a request failed in a way that can heal; the next one follows after `delay`.
 * - `Resumed`: the server told how far it is; sending goes on from `offset`.
 * - `Completed`: every byte is stored.
 */
export type UploadEvent = Data.TaggedEnum<{
  readonly Created: { readonly url: UploadUrl; readonly length: bigint }
  readonly Progress: { readonly sent: bigint; readonly acknowledged: bigint; readonly total: bigint }
  readonly Retrying: { readonly attempt: number; readonly delay: Duration.Duration; readonly reason: string }
  readonly Resumed: { readonly offset: bigint }
  readonly Completed: { readonly url: UploadUrl; readonly length: bigint }
}>

export const { $is, $match, Completed, Created, Progress, Resumed, Retrying } = Data.taggedEnum<UploadEvent>()
