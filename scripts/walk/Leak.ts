/**
 * Finds in a text what must not leave: values that somebody called a secret, and capabilities by their form. It reads
 * escapes in a way of its own, not in that of the library.
 */

/** What was found, with the start of it only. */
export interface Leak {
  readonly kind: "known secret" | "upload URL" | "Status URL" | "signature" | "token"
  readonly start: string
}

const minLength = 8

/** The known values by their first characters: however many they are, a text is read once. */
const known = new Map<string, Array<string>>()

/** The addresses of creations are no secrets; what follows them is one. */
const secretOf = (value: string): string =>
  /^https?:\/\//i.test(value) ? (/\/(?:resumable\/files|assemblies)\/([^?#]+)$/i.exec(value)?.[1] ?? "") : value

/** From now on no text may hold this value. Words of fewer than 8 characters stand in ordinary texts too. */
export const learn = (value: unknown): void => {
  if (typeof value !== "string") return
  const secret = secretOf(value)
  if (secret.length < minLength || secret.trim() === "") return
  const first = secret.slice(0, minLength)
  const same = known.get(first)
  if (same === undefined) known.set(first, [secret])
  else if (!same.includes(secret)) same.push(secret)
}

const forms: ReadonlyArray<readonly [kind: Leak["kind"], pattern: RegExp]> = [
  ["upload URL", /\/resumable\/files\/([\w~.+-]+)/gi],
  ["Status URL", /\/assemblies\/([0-9a-f]{32})/gi],
  ["signature", /\bsha(?:1|256|384):([0-9a-f]{40,})/gi],
  ["signature", /\b(?:x-amz-)?signature=(?!<)([^\s&"']{8,})/gi],
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

const findIn = (text: string): Leak | undefined => {
  for (const [kind, pattern] of forms) {
    for (const [, found = ""] of text.matchAll(pattern)) return { kind, start: found.slice(0, 4) }
  }
  if (known.size === 0) return undefined
  for (let at = 0; at + minLength <= text.length; at++) {
    const secret = known.get(text.slice(at, at + minLength))?.find((one) => text.startsWith(one, at))
    if (secret !== undefined) return { kind: "known secret", start: secret.slice(0, 4) }
  }
  return undefined
}

/** The first leak in a text, as it stands or in up to three levels of escapes. */
export const find = (text: string): Leak | undefined => {
  let read = text
  for (let level = 0; level < 4; level++) {
    const leak = findIn(read)
    if (leak !== undefined) return leak
    const next = unescape(read)
    if (next === read) return undefined
    read = next
  }
  return undefined
}
