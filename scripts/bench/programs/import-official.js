const start = performance.now()
await import("@transloadit/node")
console.log(performance.now() - start)
process.exit(0)
