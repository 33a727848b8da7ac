/**
 * The transfer of the bytes of one upload: how many bytes the server has stored, and whether their number must be
 * requested. Sends no request.
 */
import * as TusError from "../TusError.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import { hostOf } from "./requests.ts"
import type { Begun } from "./uploadState.ts"

/**
 * What is uploaded: the whole source, or a part of it, which becomes a part of a later final upload.
 *
 * - `size`: the number of bytes, if it is known.
 * - `replayable`: whether the bytes can be read again.
 */
export interface Subject {
  readonly outgoing: { readonly size: bigint | undefined; readonly replayable: boolean }
  readonly isPart: boolean
}

/** The number of differing reports after which the upload fails. */
const mostTold = 4

/** The transfer of the bytes of one upload, which begins with the response to its creation if this run has created it. */
export class Transfer {
  /** Whether the offset on the server is unknown, and is requested next. Otherwise the next bytes are sent. */
  isAsking = true
  /** The number of stored bytes, according to the last accepted report of the server; 0 before the first report. */
  acknowledged = 0n
  /** The number of failed requests since the last progress. */
  failures = 0
  /** The length of the upload, if the server knows it; undefined while the length is deferred. */
  length: bigint | undefined
  readonly #subject: Subject
  readonly #url: UploadUrl
  /** The highest value that `acknowledged` has had. Only a higher value counts as progress. */
  #reached = 0n
  /**
   * The highest offset up to which bytes were given to the HTTP client; the server cannot have more bytes. It is
   * undefined if an earlier run may have sent bytes.
   */
  #handed: bigint | undefined
  /** The length in the last PATCH that contained a length. The PATCH may not have reached the server. */
  #declared: bigint | undefined
  /** The offsets that were reported in a row. The last one is accepted if the next response reports it again. */
  #told: ReadonlyArray<bigint> = []

  /**
   * Some servers store only the first bytes of a creation, or none (tus 1.0.0). If the response to the creation has no
   * offset or an impossible one, the offset is requested next.
   */
  constructor(subject: Subject, url: UploadUrl, begun: Begun | undefined) {
    this.#subject = subject
    this.#url = url
    this.length = subject.outgoing.size
    this.#handed = begun?.sent
    if (begun?.offset !== undefined && begun.offset <= begun.sent) this.moveTo(begun.offset)
  }

  /** Whether all bytes are stored. */
  get isDone(): boolean {
    return !this.isAsking && this.acknowledged === this.length
  }

  /**
   * The length of the upload: `size` (the number of bytes to upload), else the length that the server knows, else the
   * length that was declared to the server.
   */
  get expectedLength(): bigint | undefined {
    return this.#subject.outgoing.size ?? this.length ?? this.#declared
  }

  /** The server has stored the bytes before `offset`. */
  moveTo(offset: bigint, length: bigint | undefined = this.length): void {
    if (offset > this.#reached) {
      this.#reached = offset
      this.failures = 0
    }
    this.acknowledged = offset
    this.length = length
    this.isAsking = false
    this.#told = []
  }

  /** After a temporary failure, the offset is requested next. */
  failed(): void {
    this.isAsking = true
    this.failures++
  }

  /** A PATCH was sent: its bytes before the offset `handed` were given to the HTTP client. */
  handedOver(handed: bigint, declared: bigint | undefined): void {
    this.#declared = declared ?? this.#declared
    if (this.#handed !== undefined && handed > this.#handed) this.#handed = handed
  }

  /** An untrusted part is never concatenated, so the server does not treat it as a complete file. */
  #untrusted(description: string, mayBeWhole: boolean): TusError.UploadUntrusted {
    const isWhole = mayBeWhole && !this.#subject.isPart
    return new TusError.UploadUntrusted({ host: hostOf(this.#url), description, mayBeWhole: isWhole })
  }

  #mismatch(field: "upload-length" | "upload-offset", expected: string, found: bigint): TusError.UploadMismatch {
    return new TusError.UploadMismatch({ host: hostOf(this.#url), field, expected, found: `${found}` })
  }

  /** If no length is known, the server does not know the length either. */
  #beyond(offset: bigint, handed: bigint): TusError.UploadUntrusted {
    const length = this.expectedLength
    const description = `upload-offset is ${offset}, but bytes up to ${handed} were sent`
    return this.#untrusted(description, length !== undefined && offset >= length)
  }

  /**
   * The error of a PATCH whose bytes before the offset `handed` were given to the HTTP client, if the reported offset is
   * impossible. A server may store only the first of these bytes (tus 1.0.0), but if the request did not declare the
   * length of its body, other bytes may be missing.
   */
  distrust(offset: bigint, handed: bigint, declaresLength: boolean): TusError.UploadUntrusted | undefined {
    return offset > handed || (offset < handed && !declaresLength) ? this.#beyond(offset, handed) : undefined
  }

  /**
   * The server reported the offset of the upload. Returns the error if the offset is beyond the sent bytes or beyond the
   * end, or if the length is not the known one.
   *
   * An offset whose bytes would be lost if it were wrong must be reported twice in a row: the end, which completes the
   * upload, and any offset in the upload of a one-shot source. Any other offset is accepted at once, because the server
   * refuses a PATCH at a wrong offset and the source still has the bytes.
   */
  located(found: {
    readonly offset: bigint
    readonly length?: bigint | undefined
  }): TusError.UploadMismatch | TusError.UploadUntrusted | undefined {
    const { offset } = found
    const known = this.expectedLength
    if (found.length !== undefined && found.length !== known) {
      return this.#mismatch("upload-length", known === undefined ? "none yet" : `${known}`, found.length)
    }
    if (this.#handed !== undefined && offset > this.#handed) return this.#beyond(offset, this.#handed)
    const length = found.length ?? this.length
    const end = length ?? this.#subject.outgoing.size
    if (end !== undefined && offset > end) return this.#mismatch("upload-offset", `0 to ${end}`, offset)
    const last = this.#told.at(-1)
    if (offset === last || (this.#subject.outgoing.replayable && offset !== end)) {
      this.moveTo(offset, length)
      return undefined
    }
    this.#told = [...this.#told, offset]
    if (this.#told.length === mostTold) return this.#mismatch("upload-offset", `${last}, as reported before`, offset)
    return undefined
  }

  /**
   * A receipt of the Assembly reports that the upload is complete, with the given length. Returns the error if the HTTP
   * client got another number of bytes.
   */
  receipted(length: bigint): TusError.UploadUntrusted | undefined {
    const handed = this.#handed
    if (handed !== undefined && handed !== length) {
      const description = `the receipt reports a complete upload of ${length} bytes, but ${handed} bytes were sent`
      return this.#untrusted(description, true)
    }
    this.moveTo(length, length)
    return undefined
  }
}
