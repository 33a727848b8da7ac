const maxExcerpt = 200

/**
 * Takes the proof of a request out of a text that the other side wrote: an error page may well repeat what was asked.
 * A signature goes by its digits, so however its colon is written.
 */
export const redact = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((safe, secret) => safe.replaceAll(secret, "<redacted>"), text)

/** The start of a body for an error message. Redacted before it is cut, so that no half of a secret stays. */
export const excerpt = (text: string, secrets: ReadonlyArray<string>): string => {
  const longest = Math.max(0, ...secrets.map((secret) => secret.length))
  const safe = redact(text.slice(0, maxExcerpt + longest), secrets)
  return text.length > maxExcerpt ? `${safe.slice(0, maxExcerpt)}…` : safe
}
