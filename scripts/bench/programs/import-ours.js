// What users install is the build: `pnpm build` makes it.
const start = performance.now()
await Promise.all(["schema", "auth", "api", "tus"].map((name) => import(`../../../packages/${name}/dist/index.js`)))
console.log(performance.now() - start)
process.exit(0)
