/**
 * Layer 2, the wire: encodings, paths, media types and transports, shared by client and server so that they cannot
 * disagree. Published as `evenkeel/unstable/wire`.
 */

export {
  formatOfBody,
  mediaTypes,
  negotiate,
  parseMediaType,
  type MediaChoice,
  type MediaOffer,
  type MediaFormat,
  type MediaShape,
} from './media.ts'
export { formatResourcePath, parseResourcePath, Query, type ResourcePath } from './path.ts'
export {
  type Transport,
  type WireHeaders,
  type WirePeer,
  type WireRequest,
  type WireResponse,
  type WireUpgrade,
} from './transport.ts'
export { decodeProtobuf, encodeProtobuf, knowsProtobuf, encodeWatchFrame } from './protobuf/envelope.ts'
export {
  isWebSocketAccepted,
  isWebSocketRequest,
  webSocketClosing,
  webSocketFields,
  webSocketMessage,
  webSocketProtocols,
  webSocketRequestFields,
  webSocketToken,
  withoutWebSocketToken,
} from './websocket.ts'
export { WebSocketReader } from './websocket-reader.ts'
export { channelProtocols, channels, ChannelStreams, type ChannelProtocol } from './channel-streams.ts'
export { encodeCbor, encodeCborEvent, loadCbor, splitCbor } from './cbor/codec.ts'
export { checkValues, findKeys, readJson } from './json.ts'
export { readYaml, duplicateYamlKeys } from './yaml-reader.ts'
export { writeYaml } from './yaml-writer.ts'
export {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
  makeRsaKeyPair,
  type CertificateKeyPair,
} from './certificates.ts'
export { connectBackend, responseTo, type BackendConnection } from './backend-client.ts'
export { connectHttps, type HttpsConnection, type HttpsOptions } from './https-client.ts'
