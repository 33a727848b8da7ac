import * as Predicate from "effect/Predicate"

const maxExcerpt = 200

/** How a secret may stand in a text: as it is, inside a JSON string, in a URL or a form. */
const formsOf = (secret: string): ReadonlyArray<string> => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret)
]

/** An empty secret stands everywhere and hides nothing. */
const formsOfAll = (secrets: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(secrets.filter((secret) => secret !== "").flatMap(formsOf))
]

const mask = "<redacted>"

const redactForms = (text: string, forms: ReadonlyArray<string>): string =>
  forms.reduce((safe, form) => safe.replaceAll(form, mask), text)

/**
 * Takes the proof of a request out of the texts in a JSON value: the other side may well repeat what was asked. A
 * signature goes by its digits, so however its colon is written.
 */
export const redactJson = (value: unknown, secrets: ReadonlyArray<string>): unknown => {
  const forms = formsOfAll(secrets)
  const go = (part: unknown): unknown => {
    if (typeof part === "string") return redactForms(part, forms)
    if (Array.isArray(part)) return part.map(go)
    if (!Predicate.isObject(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [redactForms(key, forms), go(inner)]))
  }
  return forms.length === 0 ? value : go(value)
}

/** Fewer characters of a secret at the end of a text are as good as none. */
const minCut = 4

/** A text without the beginning of a secret at its end, where it breaks off. */
const withoutCut = (text: string, forms: ReadonlyArray<string>): string => {
  for (const form of forms) {
    for (let length = Math.min(form.length - 1, text.length); length >= minCut; length--) {
      if (text.endsWith(form.slice(0, length))) return text.slice(0, -length) + mask
    }
  }
  return text
}

/**
 * The start of a body for an error message. It is redacted before it is cut, so that no half of a secret stays; where
 * the body itself breaks off, half a secret at its end is taken out too.
 */
export const excerpt = (text: string, secrets: ReadonlyArray<string>): string => {
  const forms = formsOfAll(secrets)
  const safe = withoutCut(redactForms(text, forms), forms)
  return safe.length > maxExcerpt ? `${safe.slice(0, maxExcerpt)}…` : safe
}
