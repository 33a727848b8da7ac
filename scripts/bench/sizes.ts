/**
 * `pnpm check:size` fails where a bundle is larger than it was: the sizes below are what a commit reached, above the same
 * program written with Effect alone. A smaller one is a reason to lower the number here.
 */
import { bundleSize } from "./bundle.ts"

const limits = [
  { program: "edge-ours", plain: "edge-plain", most: 23 },
  { program: "upload-deep", plain: "upload-plain", most: 33.5 },
  { program: "upload-index", plain: "upload-plain", most: 35.6 }
]

const checked = await Promise.all(
  limits.map(async ({ most, plain, program }) => {
    const more = (await bundleSize(program)) - (await bundleSize(plain))
    console.log(`${program}: ${more.toFixed(2)} kB more than ${plain}, at most ${most}`)
    return more <= most
  })
)
if (checked.includes(false)) process.exitCode = 1
