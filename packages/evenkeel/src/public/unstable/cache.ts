/**
 * `evenkeel/unstable/cache`: parts of the layer cache for tools of this repository. They may change with any release.
 */
export { ObjectCache, pick } from '#cache'
