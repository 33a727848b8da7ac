/** The maximum number of keywords in a list request. Each keyword is searched in all rows of the Workspace. */
export const max = 20

/** The maximum number of characters of one keyword in the list of Assemblies. */
export const maxLength = 256
