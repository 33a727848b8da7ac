/** The maximum number of keywords in a list request. Each is searched in all rows of the Workspace. */
export const max = 20

/** The most characters of one keyword in the list of Assemblies. */
export const maxLength = 256
