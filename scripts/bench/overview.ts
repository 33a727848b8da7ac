/** Draws the most important figures: for each kind of work, one bar for our program and one for its peer. */
import { median } from "./harness.ts"
import { escape, style } from "./svg.ts"

/** A row in docs/benchmarks.json, as far as this chart needs it. */
export interface Measured {
  readonly figures: ReadonlyArray<{
    readonly peer: string
    readonly unit: string
    readonly samples: Readonly<Record<string, ReadonlyArray<number>>>
  }>
}

/**
 * The kinds of work. `peer` is the beginning of the name of the peer in the results, and `theirs` its name in the
 * chart.
 */
const panels = [
  { row: "P1", peer: "tus-js-client", title: "Upload of 1 GiB in one request", theirs: "tus-js-client" },
  { row: "P3", peer: "tus-js-client", title: "Upload of 1 GiB in chunks of 8 MiB", theirs: "tus-js-client" },
  {
    row: "P5",
    peer: "tus-js-client",
    title: "Upload in 4 parts, 50 ms away, 20 MB/s a connection",
    theirs: "tus-js-client"
  },
  { row: "P6", peer: "tus-js-client", title: "Uploads of 16 KiB, 16 at once", theirs: "tus-js-client" },
  { row: "P7", peer: "@transloadit/node", title: "Signed lists of 50 entries", theirs: "@transloadit/node" },
  { row: "P9", peer: "@transloadit/node", title: "Import in a new process", theirs: "@transloadit/node" },
  { row: "P11", peer: "the same upload", title: "Bundle of an upload in a page, gzipped", theirs: "Effect alone" }
] as const

const smallerIsBetter = new Set(["ms", "s", "kB"])

const width = 520
const bars = { left: 140, right: width - 104, height: 16 }
const panelHeight = 74
const top = 44

const shown = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 3 })

/** Draws the rows that were measured. Each kind of work has its own scale, which starts at zero. */
export const draw = (rows: Readonly<Record<string, Measured>>): string => {
  const drawn = panels.flatMap(({ peer, row, theirs, title }) => {
    const figure = rows[row]?.figures.find((one) => one.peer.startsWith(peer))
    const { ours = [], theirs: others = [] } = figure?.samples ?? {}
    if (figure === undefined || ours.length === 0 || others.length === 0) return []
    return [
      {
        title,
        unit: figure.unit,
        values: [
          ["assembly-effect", median(ours)],
          [theirs, median(others)]
        ] as const
      }
    ]
  })
  const height = top + drawn.length * panelHeight
  const groups = drawn.map(({ title, unit, values }, index) => {
    const y = top + index * panelHeight
    const largest = Math.max(...values.map(([, value]) => value))
    const better = smallerIsBetter.has(unit) ? "less is better" : "more is better"
    const pairs = values.map(([name, value], place) => {
      const at = y + 22 + place * 20
      const length = Math.round((value / largest) * (bars.right - bars.left))
      const color = place === 0 ? "var(--c0)" : "var(--guide)"
      return `<text text-anchor="end" x="${bars.left - 8}" y="${at + 12}">${escape(name)}</text><rect x="${bars.left}" y="${at}" width="${length}" height="${bars.height}" fill="${color}"/><text x="${bars.left + length + 6}" y="${at + 12}">${shown(value)} ${escape(unit)}</text>`
    })
    return `<text class="head" x="12" y="${y + 12}">${escape(title)}</text><text class="soft" text-anchor="end" x="${width - 12}" y="${y + 12}">${better}</text>${pairs.join("")}`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="assembly-effect beside its peers">
<style>${style}  .head { font-weight: 600 }
</style>
<rect width="${width}" height="${height}" fill="var(--ground)"/>
<text class="title" x="12" y="26">assembly-effect beside its peers</text>
${groups.join("\n")}
</svg>
`
}
