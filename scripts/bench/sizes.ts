/**
 * `pnpm check:size` fails if a bundle has become larger. Each limit below is the size of a bundle in kB, minus the size
 * of the same program with Effect alone. When a bundle becomes smaller, lower its limit.
 */
import { bundleSizes } from "./bundle.ts"

const limits = [
  { program: "edge-ours", plain: "edge-plain", most: 24.7 },
  { program: "upload-deep", plain: "upload-plain", most: 34.6 },
  { program: "upload-index", plain: "upload-plain", most: 39.3 }
]

const sizes = await bundleSizes(limits.flatMap(({ plain, program }) => [program, plain]))
limits.forEach(({ most, plain, program }, index) => {
  const more = (sizes[2 * index] ?? Number.NaN) - (sizes[2 * index + 1] ?? Number.NaN)
  console.log(`${program}: ${more.toFixed(2)} kB more than ${plain}, at most ${most}`)
  if (!(more <= most)) process.exitCode = 1
})
