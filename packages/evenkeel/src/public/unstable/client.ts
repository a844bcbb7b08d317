/**
 * `evenkeel/unstable/client`: parts of the layer client for tools of this repository. They may change with any release.
 */
export { bearer, fixedCredential, httpTransport, withCredentials } from '#client'
