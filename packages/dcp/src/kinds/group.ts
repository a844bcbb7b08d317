/**
 * The group and version of all kinds of this package.
 */
export const group = 'usvc-dev.developer.microsoft.com'
export const version = 'v1'
