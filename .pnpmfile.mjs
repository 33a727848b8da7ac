// What users get of a manifest: neither scripts nor development dependencies, which name sources that are not shipped.
export const hooks = {
  beforePacking: ({ devDependencies: _dev, scripts: _scripts, ...manifest }) => manifest
}
