/**
 * Finds secrets in a text: values that were marked as secret, and capabilities by their form. It decodes escapes with
 * its own code, so that a mistake in the library cannot hide a leak.
 */

/** A found leak. It contains only the beginning of the secret. */
export interface Leak {
  readonly kind: "known secret" | "Assembly id" | "upload URL" | "Status URL" | "signature" | "token"
  readonly start: string
}

const minLength = 8

/** The values that tests marked, with their first characters. */
let ofTests: Array<readonly [first: string, secret: string]> = []

/** The known values, indexed by their first characters, so that a text is read only once. */
const known = new Map<string, Map<string, Leak["kind"]>>()

const assemblyUrl = /^https?:.*\/assemblies\/([^?#]+)$/i
const uploadUrl = /^https?:.*\/resumable\/files\/([^?#]+)$/i

/** The secret part of a value. The URL of a creation is not secret, but the id after it is. */
const secretOf = (value: string): readonly [secret: string, kind: Leak["kind"]] => {
  const assemblyId = assemblyUrl.exec(value)?.[1]
  if (assemblyId !== undefined) return [assemblyId, "Assembly id"]
  return [/^https?:/i.test(value) ? (uploadUrl.exec(value)?.[1] ?? "") : value, "known secret"]
}

/**
 * Marks a value as secret, so that {@link find} reports it in any text. Values of fewer than 8 characters are ignored,
 * because they occur in ordinary texts.
 */
export const learn = (value: string, inTest: boolean): void => {
  const [secret, kind] = secretOf(value)
  if (secret.length < minLength || secret.trim() === "") return
  const first = secret.slice(0, minLength)
  const same = known.get(first) ?? new Map<string, Leak["kind"]>()
  known.set(first, same)
  if (inTest && !same.has(secret)) ofTests.push([first, secret])
  if (same.get(secret) !== "known secret") same.set(secret, kind)
}

/**
 * Forgets what the tests of a file marked as secret: files of one worker share this module, and a secret of one file
 * may be a plain text of another. What modules marked when they were loaded stays, because they are loaded once.
 */
export const forgetTests = (): void => {
  for (const [first, secret] of ofTests) known.get(first)?.delete(secret)
  ofTests = []
}

const forms: ReadonlyArray<readonly [kind: Leak["kind"], pattern: RegExp]> = [
  ["upload URL", /\/resumable\/files\/([\w~.+-]+)/gi],
  ["Status URL", /\/assemblies\/([0-9a-f]{32})/gi],
  ["signature", /\bsha(?:1|256|384):([0-9a-f]{40,})/gi],
  ["signature", /\b(?:x-amz-)?signature=(?!<|REDACTED(?![^\s&"']))([^\s&"']{8,})/gi],
  ["token", /\bbearer (?!<)([\w.~+/=-]{16,})/gi]
]

const unescape = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi, (_, four, two) => String.fromCharCode(parseInt(four ?? two, 16)))
    .replace(/\\([/"'\\])/g, "$1")
    .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString())
    .replace(/&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));?/gi, (all, hex, decimal) => {
      const code = hex === undefined ? Number(decimal) : parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : all
    })

const knownIn = (text: string): ReadonlyArray<Leak> => {
  const found: Array<Leak> = []
  if (known.size === 0) return found
  for (let at = 0; at + minLength <= text.length; at++) {
    for (const [secret, kind] of known.get(text.slice(at, at + minLength)) ?? []) {
      if (text.startsWith(secret, at)) found.push({ kind, start: secret.slice(0, 4) })
    }
  }
  return found
}

const formsIn = (text: string): ReadonlyArray<Leak> =>
  forms.flatMap(([kind, pattern]) =>
    Array.from(text.matchAll(pattern), ([, found = ""]): Leak => ({ kind, start: found.slice(0, 4) }))
  )

/** The leaks in a text, as plain text or in up to three levels of escapes. */
export const find = (text: string): ReadonlyArray<Leak> => {
  const found: Array<Leak> = []
  let read = text
  for (let level = 0; level < 4; level++) {
    found.push(...formsIn(read), ...knownIn(read))
    const next = unescape(read)
    if (next === read) break
    read = next
  }
  return found
}
