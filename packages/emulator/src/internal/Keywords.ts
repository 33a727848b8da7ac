/** How many keywords a list may be asked for: each of them is looked for in everything that the Workspace has. */
export const max = 20

/** Characters of a keyword of the list of Assemblies. */
export const maxLength = 256
