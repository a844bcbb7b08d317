/**
 * `evenkeel/unstable/wire`: parts of the layer wire for tools of this repository. They may change with any release.
 */
export { decodeProtobuf, encodeProtobuf, issueServerCertificate, knowsProtobuf, makeAuthority } from '#wire'
