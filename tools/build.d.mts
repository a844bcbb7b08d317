/** What the tools written in TypeScript use of build.mjs. */

/** Builds the library and the program that `npm start` runs. */
export function buildLibrary(): Promise<void>
/** True when there is no build, or a source is newer than it. */
export function isStale(): boolean
