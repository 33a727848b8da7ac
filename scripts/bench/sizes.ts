/**
 * `pnpm check:size` fails if a bundle has become larger. Each limit below is the size of a bundle in kB, minus the size
 * of the same program with Effect alone. When a bundle becomes smaller, lower its limit.
 */
import { bundleSize } from "./bundle.ts"

const limits = [
  { program: "edge-ours", plain: "edge-plain", most: 23 },
  { program: "upload-deep", plain: "upload-plain", most: 33.48 },
  { program: "upload-index", plain: "upload-plain", most: 35.63 }
]

const checked = await Promise.all(
  limits.map(async ({ most, plain, program }) => {
    const more = (await bundleSize(program)) - (await bundleSize(plain))
    console.log(`${program}: ${more.toFixed(2)} kB more than ${plain}, at most ${most}`)
    return more <= most
  })
)
if (checked.includes(false)) process.exitCode = 1
