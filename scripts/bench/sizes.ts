/**
 * `pnpm check:size` fails if a bundle has become larger. Each limit below is the size of a bundle in kB, minus the size
 * of the same program with Effect alone. When a bundle becomes smaller, lower its limit.
 */
import { bundleSizes } from "./bundle.ts"

const limits = [
  { program: "edge-ours", plain: "edge-plain", most: 20.5 },
  { program: "upload-deep", plain: "upload-plain", most: 30 },
  { program: "upload-index", plain: "upload-plain", most: 33.5 }
]

const sizes = await bundleSizes(limits.flatMap(({ plain, program }) => [program, plain]))
limits.forEach(({ most, plain, program }, index) => {
  const more = (sizes[2 * index] ?? Number.NaN) - (sizes[2 * index + 1] ?? Number.NaN)
  console.log(`${program}: ${more.toFixed(2)} kB more than ${plain}, at most ${most}`)
  if (!(more <= most)) process.exitCode = 1
})

// A bundle for Node is as large as that of an edge runtime: it has no second form of a module.
const [edge = 0] = sizes
const [node = Number.NaN] = await bundleSizes(["edge-ours"], "node")
console.log(`edge-ours for Node: ${(node / edge).toFixed(3)} times edge-ours, at most 1.05`)
if (!(node <= 1.05 * edge)) process.exitCode = 1
