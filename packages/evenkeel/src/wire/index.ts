/**
 * Layer 2: values as bytes and back, for both ends, so that client and server cannot disagree. Published as
 * `evenkeel/unstable/wire`.
 */
export { formatOfBody, mediaTypes, negotiate, parseMediaType } from './media.ts'
export type { MediaChoice, MediaFormat, MediaOffer, MediaShape } from './media.ts'
export { formatResourcePath, parseResourcePath } from './path.ts'
export type { ResourcePath } from './path.ts'
export { acceptingLightSignals } from './transport.ts'
export type { Transport, WireHeaders, WirePeer, WireRequest, WireResponse } from './transport.ts'
export { decodeProtobuf, encodeProtobuf, knowsProtobuf } from './protobuf/envelope.ts'
export { decodeWatchFrame, encodeWatchFrame } from './protobuf/watch-frame.ts'
export { readJson } from './text/read-json.ts'
export { readYaml } from './text/read-yaml.ts'
export { duplicateYamlKeys } from './text/repeated-keys.ts'
export { writeYaml } from './text/write-yaml.ts'
export { issueClientCertificate, issueServerCertificate, makeAuthority } from './certificates/authority.ts'
export type { CertificateKeyPair } from './certificates/authority.ts'
export { connectHttps } from './outgoing/connect-https.ts'
export type { HttpsConnection, HttpsOptions } from './outgoing/connect-https.ts'
export { Query } from './query.ts'
