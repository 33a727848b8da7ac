/** The maximum number of keywords in a list request. Each is searched in all rows of the Workspace. */
export const max = 20
